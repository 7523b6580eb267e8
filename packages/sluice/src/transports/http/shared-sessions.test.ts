/** Two servers with one store, as two processes have it, and a clock and a bus that the test holds in its hand. */

import { expect, test } from 'vitest'
import type { Bus } from '../../core/bus.ts'
import { sharedHub } from '../../core/shared-hub.ts'
import type { Store } from '../../core/store.ts'
import type { Verifier } from '../../layers/identities/identify.ts'
import { ask, authenticate } from '../../parts.ts'
import { defineServer } from '../../protocol/definition.ts'
import { form } from '../../protocol/questions.ts'
import { tool } from '../../protocol/tools.ts'
import { createServer } from '../../server.ts'
import { memoryStore } from '../../stores/memory.ts'
import { memoryBus } from '../../stores/memory-bus.ts'
import { fakeClock, settle } from '../../testing/clock.ts'
import type { FetchHandler } from '../fetch.ts'
import { toFetch } from '../fetch.ts'
import { sessions } from './session-routes.ts'
import { sharedSessions } from './shared-sessions.ts'

type Headers = { readonly [name: string]: string }
type Message = { readonly [name: string]: unknown }
const idleMs = 30 * 60_000
const deafBus: Bus = { publish: async () => {}, subscribe: () => () => {} }

interface Settings {
  readonly bus?: Bus
  readonly verify?: Verifier['verify']
  readonly max?: number
}

function fleet({ bus = memoryBus(), verify, max = 1000 }: Settings = {}) {
  const clock = fakeClock(1_000_000)
  const store: Store = { ...memoryStore(clock), shared: sharedHub }
  const stopped: string[] = []
  const gates = new Map<string, () => void>()
  const definition = defineServer({
    info: { name: 'fleet', version: '1' },
    tools: [
      tool({
        name: 'hold',
        description: 'Until it is let go',
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
  const open = (): FetchHandler => {
    const server = createServer(definition, {
      ...{ store, bus, clock, secret: 'the same in every process', ask: ask() },
      ...(verify && { authenticate: authenticate({ verifiers: [{ verify }] }) }),
    })
    return toFetch(server, { sessions: sessions({ idleMs, max }), share: sharedSessions })
  }
  return { clock, store, stopped, gates, one: open(), two: open() }
}
/** Takes whatever it is given, as a schema of any library could. */
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

test('a session that is silent for long is over on every process', async () => {
  const { clock, one, two } = fleet()
  const session = await begin(one)
  await clock.advance(idleMs - 1000)
  expect((await post(two, ping, session)).status).toBe(200)
  await clock.advance(idleMs - 1000)
  expect((await post(one, ping, session)).status).toBe(200)
  await clock.advance(idleMs + 60_000)
  for (const at of [one, two]) expect((await post(at, ping, session)).status).toBe(404)
})

test('a client that listens is not silent, whichever process it listens on', async () => {
  const { clock, one, two } = fleet()
  const session = await begin(one)
  expect((await get(two, session)).status).toBe(200)
  for (let minute = 0; minute < 90; minute += 5) await clock.advance(5 * 60_000)
  expect((await post(one, ping, session)).status).toBe(200)
})

test('without a bus that is heard, answers, cancellations and ends are found in the store', async () => {
  const { clock, one, two, stopped } = fleet({ bus: deafBus })
  const session = await begin(one)
  const asking = reader(await post(one, call('greet'), session))
  const asked = (await asking())?.message
  const answer = { jsonrpc: '2.0', id: asked?.['id'], result: { action: 'accept', content: { name: 'x' } } }
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

test('a response to what nobody asked, or in another session, is refused on every process', async () => {
  const { one, two } = fleet()
  const [session, other] = [await begin(one), await begin(one)]
  const asking = reader(await post(one, call('greet'), session))
  const asked = (await asking())?.message
  const answer = (id: unknown): Message => ({ jsonrpc: '2.0', id, result: { action: 'decline' } })
  for (const id of ['sluice-1', 'x'.repeat(5000), '', 7, `${asked?.['id']}0`])
    expect((await post(two, answer(id), session)).status).toBe(400)
  expect((await post(two, answer(asked?.['id']), other)).status).toBe(400)
  expect((await post(two, answer(asked?.['id']), session)).status).toBe(202)
  expect((await post(one, answer(asked?.['id']), session)).status).toBe(400)
})

test('who follows a call of a process that died is told, and does not wait for ever', async () => {
  const { clock, one, two, store } = fleet()
  const session = await begin(one)
  const holding = reader(await post(one, call('hold', { progressToken: 1 }), session))
  const { id = '' } = (await holding()) ?? {}
  await settle()
  // A crash takes the process along and nothing else; its lease is what is left, for a while.
  const [lease] = await store.list(['server', 'fleet', 'process'], { limit: 10 })
  const following = reader(await get(two, { ...session, 'last-event-id': id }))
  if (lease) await store.delete(lease.key)
  await clock.advance(5_000)
  const told = (await following())?.message
  expect(told).toMatchObject({ id: 'hold', error: { message: expect.stringContaining('has ended') } })
  expect(await following()).toBeUndefined()
})

test('a stream that goes on elsewhere brings everything, in order and once', async () => {
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

test('a session belongs to the first who authenticates on it, wherever that was', async () => {
  const verify: Verifier['verify'] = async (token) => ({
    ...{ subject: token, credential: 'test', scopes: new Set<string>(), claims: {} },
    expires: Number.POSITIVE_INFINITY,
  })
  const { one, two } = fleet({ verify })
  // The handshake is public, so at first it is nobody's.
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

test('sessions are opened only as fast as they expire, once there are as many as may be', async () => {
  const { one, two, clock } = fleet({ max: 3 })
  for (const at of [one, two, one]) await begin(at)
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }
  const opening: Message = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const refused = await post(two, opening)
  expect(refused.status).toBe(503)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  await clock.advance(idleMs / 3)
  await begin(two)
})

test('what a session remembers is bounded', async () => {
  const { one } = fleet()
  const params = { protocolVersion: '2025-11-25', capabilities: { x: 'x'.repeat(300_000) }, clientInfo: {} }
  expect((await post(one, { jsonrpc: '2.0', id: 0, method: 'initialize', params })).status).toBe(413)
})
