/** Two servers with one store, like two processes, with a clock and a bus that the test controls. */

import { describe, expect, test } from 'vitest'
import type { Bus } from '../../../core/bus.ts'
import type { LogLine } from '../../../core/log.ts'
import { sharedHub } from '../../../core/shared-hub.ts'
import type { Store } from '../../../core/store.ts'
import type { Verifier } from '../../../layers/identities/authenticate-credential.ts'
import { authenticate, elicitation, log } from '../../../plugins/index.ts'
import { defineServer } from '../../../protocol/definition.ts'
import { form } from '../../../protocol/questions.ts'
import { resource } from '../../../protocol/resources.ts'
import type { Server } from '../../../protocol/server.ts'
import { toTransportServer } from '../../../protocol/server.ts'
import { tool } from '../../../protocol/tools.ts'
import { createServer } from '../../../server.ts'
import { memoryStore } from '../../../stores/memory.ts'
import { memoryBus } from '../../../stores/memory-bus.ts'
import { fakeClock, settle } from '../../../testing/clock.ts'
import type { FetchHandler } from '../../fetch.ts'
import { toFetch } from '../../fetch.ts'
import { sessions } from './session-routes.ts'
import { sharedSessions } from './shared-sessions.ts'
import { sse } from './sse.ts'

type Headers = { readonly [name: string]: string }
type Message = { readonly [name: string]: unknown }
const idleMs = 30 * 60_000
const silentBus: Bus = { publish: async () => {}, subscribe: () => () => {} }

interface Settings {
  readonly bus?: Bus
  readonly verify?: Verifier['verify']
  readonly max?: number
}

function fleet({ bus = memoryBus(), verify, max = 1000 }: Settings = {}) {
  const clock = fakeClock(1_000_000)
  const memory = memoryStore(clock)
  /** Which operations of the store fail, and how often. */
  const outage = { unavailable: false, failLists: 0, failDeletes: 0, beforeSet: async () => {} }
  const orFail = <T>(fails: boolean, verb: () => Promise<T>): Promise<T> =>
    outage.unavailable || fails ? Promise.reject(new Error('The store is unavailable')) : verb()
  const store: Store = {
    ...memory,
    shared: sharedHub,
    get: (key) => orFail(false, () => memory.get(key)),
    delete: (key) => orFail(outage.failDeletes-- > 0 && key.includes('mail'), () => memory.delete(key)),
    swap: (...args) => orFail(false, () => memory.swap(...args)),
    async set(...args) {
      await outage.beforeSet()
      return memory.set(...args)
    },
    list: (prefix, page) => orFail(prefix.includes('mail') && outage.failLists-- > 0, () => memory.list(prefix, page)),
  }
  const lines: LogLine[] = []
  const record = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: record, warn: record, error: record }
  const stopped: string[] = []
  const gates = new Map<string, () => void>()
  const definition = defineServer({
    name: 'fleet',
    version: '1',
    resources: [
      resource({ uri: 'note:{+id}', name: 'note', read: () => '' }),
      resource({ uri: 'n:{+id}', name: 'n', read: () => '' }),
    ],
    tools: [
      tool({
        name: 'hold',
        description: 'Runs until the test releases it',
        timeoutMs: 60 * 60_000,
        run: (_, { progress, signal }) => {
          progress(1)
          signal.addEventListener('abort', () => stopped.push('hold'))
          return new Promise<string>((resolve) => gates.set('hold', () => resolve('done')))
        },
      }),
      tool({
        name: 'greet',
        description: 'Asks',
        ask: () => ({ who: form('Who?', { '~standard': any }) }),
        run: () => 'hello',
      }),
    ],
  })
  const servers: Server[] = []
  const open = (): FetchHandler => {
    const server = createServer(definition, {
      ...{ store, bus, clock, secret: 'the same in every process' },
      use: [elicitation(), log(logger), verify && authenticate({ verifiers: [{ verify }] })],
    })
    servers.push(server)
    return toFetch(server, { sessions: sessions({ idleMs, max }), share: sharedSessions, sse: sse() })
  }
  return { clock, store, stopped, gates, servers, outage, lines, one: open(), two: open() }
}
/** A schema that accepts any value, as one of any library could. */
const any = {
  version: 1,
  vendor: 'test',
  validate: (value: unknown) => ({ value }),
  jsonSchema: {
    input: () => ({ type: 'object', properties: { name: { type: 'string' } } }),
    output: () => ({ type: 'object' }),
  },
} as const

const url = 'http://localhost/mcp'
const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const post = (at: FetchHandler, message: Message, headers: Headers = {}): Promise<Response> =>
  at(new Request(url, { method: 'POST', headers: { ...accept, ...headers }, body: JSON.stringify(message) }))
const get = (at: FetchHandler, headers: Headers): Promise<Response> =>
  at(new Request(url, { headers: { accept: 'text/event-stream', ...headers } }))
const opening: Message = {
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} },
}
const ping: Message = { jsonrpc: '2.0', id: 'ping', method: 'ping' }
const call = (name: string, meta: Message = {}): Message => ({
  ...{ jsonrpc: '2.0', id: name, method: 'tools/call' },
  params: { name, arguments: {}, _meta: meta },
})
async function begin(at: FetchHandler, headers: Headers = {}): Promise<Headers> {
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: {} }
  const opened = await post(at, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers)
  expect(opened.status).toBe(200)
  return { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
}
/** The messages of a stream, one at a time; `undefined` when it has ended. */
function reader(response: Response): () => Promise<{ id: string; message: Message } | undefined> {
  const chunks = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async function next() {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const data = /^data: (.+)$/m.exec(block)?.[1]
        if (data) return { id: /^id: (.+)$/m.exec(block)?.[1] ?? '', message: JSON.parse(data) }
        continue
      }
      const read = await chunks?.read()
      if (!read || read.done) return undefined
      text += read.value
    }
  }
}

test('a session that is silent for too long ends on every process', async () => {
  const { clock, one, two } = fleet()
  const session = await begin(one)
  await clock.advance(idleMs - 1000)
  expect((await post(two, ping, session)).status).toBe(200)
  await clock.advance(idleMs - 1000)
  expect((await post(one, ping, session)).status).toBe(200)
  await clock.advance(idleMs + 60_000)
  for (const at of [one, two]) expect((await post(at, ping, session)).status).toBe(404)
})

test('a listening client keeps its session, whichever process it listens on', async () => {
  const { clock, one, two } = fleet()
  const session = await begin(one)
  expect((await get(two, session)).status).toBe(200)
  for (let minute = 0; minute < 90; minute += 5) await clock.advance(5 * 60_000)
  expect((await post(one, ping, session)).status).toBe(200)
})

test('if the bus delivers nothing, answers, cancellations and ends are found in the store', async () => {
  const { clock, one, two, stopped } = fleet({ bus: silentBus })
  const session = await begin(one)
  const asking = reader(await post(one, call('greet'), session))
  const question = (await asking())?.message
  const answer = { jsonrpc: '2.0', id: question?.['id'], result: { action: 'accept', content: { name: 'x' } } }
  expect((await post(two, answer, session)).status).toBe(202)
  await clock.advance(5_000)
  expect((await asking())?.message).toMatchObject({ id: 'greet', result: { isError: false } })

  const holding = reader(await post(one, call('hold', { progressToken: 1 }), session))
  await holding()
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'hold' } }
  expect((await post(two, cancel, session)).status).toBe(202)
  await clock.advance(5_000)
  expect(stopped).toEqual(['hold'])

  const standing = reader(await get(two, session))
  expect((await one(new Request(url, { method: 'DELETE', headers: session }))).status).toBe(204)
  await clock.advance(70_000)
  expect(await standing()).toBeUndefined()
})

test('a response that matches no pending question of the session is refused on every process', async () => {
  const { one, two } = fleet()
  const [session, other] = [await begin(one), await begin(one)]
  const asking = reader(await post(one, call('greet'), session))
  const question = (await asking())?.message
  const answer = (id: unknown): Message => ({ jsonrpc: '2.0', id, result: { action: 'decline' } })
  for (const id of ['sluice-1', 'x'.repeat(5000), '', 7, `${question?.['id']}0`])
    expect((await post(two, answer(id), session)).status).toBe(400)
  expect((await post(two, answer(question?.['id']), other)).status).toBe(400)
  expect((await post(two, answer(question?.['id']), session)).status).toBe(202)
  expect((await post(one, answer(question?.['id']), session)).status).toBe(400)
})

test('a client that follows a call of a crashed process gets an error, instead of waiting for ever', async () => {
  const { clock, one, two, store } = fleet()
  const session = await begin(one)
  const holding = reader(await post(one, call('hold', { progressToken: 1 }), session))
  const { id = '' } = (await holding()) ?? {}
  await settle()
  // A crash ends only the process. Its lease stays for a while.
  const [lease] = await store.list(['server', 'fleet', 'process'], { limit: 10 })
  const following = reader(await get(two, { ...session, 'last-event-id': id }))
  if (lease) await store.delete(lease.key)
  await clock.advance(5_000)
  const answer = (await following())?.message
  expect(answer).toMatchObject({ id: 'hold', error: { message: expect.stringContaining('has ended') } })
  expect(await following()).toBeUndefined()
})

test('a stream that is resumed on another process brings every event once, in order', async () => {
  const { one, two, gates } = fleet()
  const session = await begin(one)
  const first = await post(one, call('hold', { progressToken: 1 }), session)
  const { id = '' } = (await reader(first)()) ?? {}
  await settle()
  const following = reader(await get(two, { ...session, 'last-event-id': id.replace(/\d+$/, '0') }))
  expect((await following())?.message).toMatchObject({ params: { progress: 1 } })
  gates.get('hold')?.()
  expect((await following())?.message).toMatchObject({ id: 'hold' })
  expect(await following()).toBeUndefined()
})

test('an answer that the store did not take is kept once it does, for a client on another process', async () => {
  const { clock, one, two, gates, outage } = fleet()
  const session = await begin(one)
  const { id = '' } = (await reader(await post(one, call('hold', { progressToken: 1 }), session))()) ?? {}
  await settle()
  const following = reader(await get(two, { ...session, 'last-event-id': id }))
  await settle()
  outage.beforeSet = () => Promise.reject(new Error('The store is unavailable'))
  gates.get('hold')?.()
  await settle()
  outage.beforeSet = async () => {}
  await clock.advance(5_000)
  expect((await following())?.message).toMatchObject({ id: 'hold', result: { content: [{ text: 'done' }] } })
  expect(await following()).toBeUndefined()
})

test('a session belongs to the first caller that authenticates on it, on whichever process', async () => {
  const verify: Verifier['verify'] = async (token) => ({
    ...{ subject: token, credential: 'test', scopes: new Set<string>(), claims: {} },
    expires: Number.POSITIVE_INFINITY,
  })
  const { one, two } = fleet({ verify })
  // The handshake is public, so at first the session has no owner.
  const session = await begin(one)
  const as = (token: string): Headers => ({ ...session, authorization: `Bearer ${token}` })
  const list: Message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const first = await Promise.all(['ann', 'bob'].map((who, i) => post(i === 0 ? one : two, list, as(who))))
  const statuses = first.map(({ status }) => status)
  expect([...statuses].sort()).toEqual([200, 404])
  const owner = statuses[0] === 200 ? 'ann' : 'bob'
  for (const at of [one, two]) {
    expect((await post(at, list, as(owner))).status).toBe(200)
    expect((await post(at, list, as('eve'))).status).toBe(404)
    expect((await get(at, as('eve'))).status).toBe(404)
    expect((await post(at, ping, session)).status).toBe(401)
  }
})

test('a stream ends when its credential expires, and when it is revoked', async () => {
  let revoked = false
  const until = 1_000_000 + 10 * 60_000
  const verify: Verifier['verify'] = async (token) =>
    revoked && token === 'bob'
      ? undefined
      : {
          ...{ subject: token, credential: 'test', scopes: new Set<string>(), claims: {} },
          expires: token === 'ann' ? until : Number.POSITIVE_INFINITY,
        }
  const { clock, one, two } = fleet({ verify })
  const streams = await Promise.all(
    ['ann', 'bob'].map(async (who) => {
      const session = await begin(one, { authorization: `Bearer ${who}` })
      return reader(await get(two, session))
    }),
  )
  revoked = true
  await clock.advance(5_000)
  expect(await streams[1]?.()).toBeUndefined()
  await clock.advance(until - clock.now())
  expect(await streams[0]?.()).toBeUndefined()
})

test('sessions that have ended make room at once, and a refused one may be tried again after a second', async () => {
  const { one, two, clock } = fleet({ max: 20 })
  const end = (session: Headers): Promise<Response> => two(new Request(url, { method: 'DELETE', headers: session }))
  // Like a health check: a thousand handshakes without a pause, each ended before the next.
  for (let i = 0; i < 1000; i++) {
    expect((await end(await begin(one))).status).toBe(204)
    clock.jump(1)
  }
  const open: Headers[] = []
  let refused: Response | undefined
  for (let i = 0; i < 50 && !refused; i++) {
    const opened = await post(two, opening)
    if (opened.status === 200) open.push({ 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' })
    else refused = opened
  }
  expect(refused?.status).toBe(503)
  expect(refused?.headers.get('retry-after')).toBe('1')
  expect(open.length).toBeGreaterThan(5)
  for (const session of open) await end(session)
  clock.jump(1)
  await begin(one)
})

test('of a handshake only the fields that the server needs are stored, not whatever a stranger sends', async () => {
  const { one, store } = fleet()
  const junk = 'x'.repeat(100_000)
  const capabilities = { elicitation: { url: { junk }, junk }, sampling: {}, junk, experimental: { junk } }
  const clientInfo = { name: `client ${junk}`, version: '1', junk, icons: [{ src: junk }] }
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
  const opened = await post(one, { jsonrpc: '2.0', id: 0, method: 'initialize', params })
  expect(opened.status).toBe(200)
  const id = opened.headers.get('mcp-session-id') ?? ''
  const stored = (await store.get(['server', 'fleet', 'session', id])) ?? ''
  expect(stored.length).toBeLessThan(1000)
  expect(JSON.parse(stored)).toMatchObject({
    state: { agreed: { capabilities: { elicitation: { url: {} }, sampling: {} }, client: { version: '1' } } },
  })
})

const verified: Verifier['verify'] = async (token) => ({
  ...{ subject: token, credential: 'test', scopes: new Set<string>(), claims: {} },
  expires: Number.POSITIVE_INFINITY,
})

test('handshakes of strangers end no session of a signed-in caller, and none is refused', async () => {
  const { one, two } = fleet({ verify: verified, max: 5 })
  const ann = await begin(one, { authorization: 'Bearer ann' })
  for (let i = 0; i < 1200; i++) await begin(i % 2 ? one : two)
  for (const at of [one, two]) expect((await post(at, ping, ann)).status).toBe(200)
  const bob = await begin(two, { authorization: 'Bearer bob' })
  expect((await post(one, ping, bob)).status).toBe(200)
}, 30_000)

test('a guest session lives for minutes, and as long as any other once its caller has signed in', async () => {
  const { clock, one, two } = fleet({ verify: verified })
  const [stranger, guest] = [await begin(one), await begin(one)]
  const member = { ...guest, authorization: 'Bearer ann' }
  expect((await post(two, ping, member)).status).toBe(200)
  await clock.advance(6 * 60_000)
  expect((await post(two, ping, stranger)).status).toBe(404)
  expect((await post(one, ping, member)).status).toBe(200)
})

test('a change reaches the client whichever process took its subscription', async () => {
  const { one, two, servers } = fleet()
  const session = await begin(one)
  const listening = reader(await get(two, session))
  const subscribe = (at: FetchHandler, uri: string): Promise<Response> =>
    post(at, { jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } }, session)
  const level: Message = { jsonrpc: '2.0', id: 'l', method: 'logging/setLevel', params: { level: 'debug' } }
  // Both at once on two processes. Neither may undo a change that the other one acknowledged.
  for (let i = 0; i < 20; i++) {
    const answers = await Promise.all([
      subscribe(one, `note:${i}`),
      post(two, level, session),
      subscribe(two, `n:${i}`),
    ])
    for (const answer of answers) expect(answer.status).toBe(200)
  }
  for (let i = 0; i < 20; i++) {
    servers[0]?.resourceUpdated(`note:${i}`)
    expect((await listening())?.message).toMatchObject({ params: { uri: `note:${i}` } })
    servers[1]?.resourceUpdated(`n:${i}`)
    expect((await listening())?.message).toMatchObject({ params: { uri: `n:${i}` } })
  }
})

test('the subscriptions of one session are bounded in number and in length', async () => {
  const { one } = fleet()
  const session = await begin(one)
  const subscribe = (uri: string): Promise<Response> =>
    post(one, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }, session)
  let accepted = 0
  for (let i = 0; i < 40; i++) {
    const uri = `note:${i}${'x'.repeat(4000)}`
    if (!('error' in ((await (await subscribe(uri)).json()) as Message))) accepted++
  }
  expect(accepted).toBe(16)
})

describe('HTTP+SSE', () => {
  const messages = 'http://localhost/messages'
  /** Opens a stream on one process. `send` posts a message for it to any process. */
  async function connect(at: FetchHandler, signal?: AbortSignal) {
    const headers = { accept: 'text/event-stream' }
    const response = await at(new Request('http://localhost/sse', { headers, ...(signal && { signal }) }))
    const chunks = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await chunks?.read())?.value ?? ''
    const query = /sessionId=\S+/.exec(first)?.[0] ?? ''
    const next = async (): Promise<string> => {
      for (;;) {
        const read = await chunks?.read()
        if (!read || read.done) return ''
        if (!read.value.startsWith(':')) return read.value
      }
    }
    const send = (to: FetchHandler, message: Message): Promise<Response> =>
      to(new Request(`${messages}?${query}`, { method: 'POST', headers: accept, body: JSON.stringify(message) }))
    return { send, next }
  }

  test('a client that disconnects while the store is unavailable does not end the process', async () => {
    const { one, outage, lines } = fleet()
    const disconnecting = new AbortController()
    await connect(one, disconnecting.signal)
    outage.unavailable = true
    disconnecting.abort()
    await settle()
    // The rejection was caught. An unhandled one would have ended the process.
    expect(lines.map(({ event }) => event)).toContain('sessionNotEnded')
  })

  test('an answer of another process arrives although the first read of the store failed', async () => {
    const { one, two, clock, outage } = fleet()
    const client = await connect(one)
    outage.failLists = 1
    expect((await client.send(two, ping)).status).toBe(202)
    await clock.advance(60_000)
    expect(await client.next()).toContain('"id":"ping"')
    expect((await client.send(two, { ...ping, id: 'second' })).status).toBe(202)
    await settle()
    expect(await client.next()).toContain('"id":"second"')
  })

  test('an answer is not sent twice although the store could not delete it', async () => {
    const { one, two, clock, outage } = fleet()
    const client = await connect(one)
    outage.failDeletes = 1
    await client.send(two, ping)
    await clock.advance(120_000)
    expect(await client.next()).toContain('"id":"ping"')
    await client.send(two, { ...ping, id: 'second' })
    await settle()
    expect(await client.next()).toContain('"id":"second"')
  })

  test('a client that disconnects during the handshake leaves no listener and no session behind', async () => {
    const { one, servers, store, outage } = fleet()
    const disconnecting = new AbortController()
    const writing = Promise.withResolvers<void>()
    outage.beforeSet = async () => {
      disconnecting.abort()
      await writing.promise
    }
    const connecting = connect(one, disconnecting.signal)
    await settle()
    writing.resolve()
    await connecting.catch(() => {})
    await settle()
    const listeners = servers.map(toTransportServer)[0]?.gauges.find(({ name }) => name === 'sluice_listeners')
    expect(listeners?.read()).toBe(0)
    expect(await store.list(['server', 'fleet', 'session'], { limit: 10 })).toEqual([])
  })
})
