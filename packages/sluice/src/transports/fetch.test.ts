import { expect, test } from 'vitest'
import * as z from 'zod'
import { createServer } from '../node.ts'
import { log } from '../plugins/log.ts'
import { defineServer } from '../protocol/definition.ts'
import { tool } from '../protocol/tools.ts'
import { admission, sessions, toFetch } from './fetch.ts'

const aborted = Promise.withResolvers<void>()
const definition = defineServer({
  name: 'edge',
  version: '1',
  tools: [
    tool({ name: 'echo', description: 'Echo', input: z.object({ text: z.string() }), run: ({ text }) => text }),
    tool({
      name: 'steps',
      description: 'Reports progress',
      run(_, { progress }) {
        progress(1, 2)
        progress(2, 2)
        return 'done'
      },
    }),
    tool({
      name: 'endless',
      description: 'Waits to be cancelled',
      run: (_, { signal, progress }) => {
        progress(1)
        signal.addEventListener('abort', () => aborted.resolve())
        return new Promise<string>(() => {})
      },
    }),
    tool({
      name: 'flood',
      description: 'Sends more than the client reads',
      run(_, { log }) {
        for (let i = 0; i < 40; i++) log('info', 'x'.repeat(64 * 1024))
        return 'done'
      },
    }),
  ],
})
const modern = (method: string, params: object = {}, meta: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      ...meta,
    },
  },
})
const post = (message: unknown, headers: Record<string, string> = {}, init: RequestInit = {}): Request => {
  const { method, params } = message as { method?: string; params?: { name?: string } }
  return new Request('http://localhost/mcp', {
    method: 'POST',
    body: JSON.stringify(message),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      ...(method !== undefined && { 'mcp-method': method }),
      ...(params?.name !== undefined && { 'mcp-name': params.name }),
      ...headers,
    },
    ...init,
  })
}

test('a call is answered as JSON', async () => {
  const fetch = toFetch(createServer(definition))
  const response = await fetch(post(modern('tools/call', { name: 'echo', arguments: { text: 'hi' } })))
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toMatchObject({ result: { content: [{ text: 'hi' }] } })
})

test('a call that sends progress is answered as a stream', async () => {
  const fetch = toFetch(createServer(definition))
  const response = await fetch(post(modern('tools/call', { name: 'steps' }, { progressToken: 't' })))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const data = (await response.text()).match(/^data: .*/gm)?.map((line) => JSON.parse(line.slice(6)) as object)
  expect(data).toMatchObject([{ params: { progress: 1 } }, { params: { progress: 2 } }, { result: { isError: false } }])
})

test.each(['mcp-method', 'mcp-protocol-version'])(
  '%s with white space that only JavaScript trims is refused',
  async (name) => {
    const fetch = toFetch(createServer(definition))
    const request = post(modern('tools/call', { name: 'echo', arguments: { text: 'hi' } }))
    request.headers.set(name, `\u00a0${request.headers.get(name)}`)
    const response = await fetch(request)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: -32020 } })
  },
)

test('a body that ends with the connection is not logged as a bug', async () => {
  const lines: unknown[] = []
  const record = (line: object): unknown => lines.push(line)
  const server = createServer(definition, { use: [log({ info: record, warn: record, error: record })] })
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
  await toFetch(server)(post(modern('tools/list'), {}, { body, duplex: 'half' } as RequestInit))
  expect(lines).toMatchObject([{ event: 'refused', reason: 'cancelled' }])
})

test('a client that accepts only events gets events, and one that accepts only JSON gets no notifications', async () => {
  const fetch = toFetch(createServer(definition))
  const message = modern('tools/call', { name: 'steps' }, { progressToken: 't' })
  const events = await fetch(
    post(modern('tools/call', { name: 'echo', arguments: { text: 'hi' } }), { accept: 'text/event-stream' }),
  )
  expect(events.headers.get('content-type')).toBe('text/event-stream')
  expect(await events.text()).toContain('"hi"')
  const json = await fetch(post(message, { accept: 'application/json' }))
  expect(await json.json()).toMatchObject({ result: { isError: false } })
  expect((await fetch(post(message, { accept: 'text/html' }))).status).toBe(406)
})

test('a reader that disconnects cancels the call', async () => {
  const fetch = toFetch(createServer(definition))
  const response = await fetch(post(modern('tools/call', { name: 'endless' }, { progressToken: 't' })))
  await response.body?.cancel()
  await aborted.promise
})

test('a request whose signal aborts cancels the call', async () => {
  const seen = Promise.withResolvers<void>()
  const waiting = tool({
    name: 'waiting',
    description: 'Waits',
    run(_, { signal }) {
      signal.addEventListener('abort', () => seen.resolve())
      controller.abort()
      return new Promise<string>(() => {})
    },
  })
  const controller = new AbortController()
  const fetch = toFetch(createServer(defineServer({ name: 'x', version: '1', tools: [waiting] })))
  fetch(post(modern('tools/call', { name: 'waiting' }), {}, { signal: controller.signal })).catch(expect.unreachable)
  await seen.promise
})

test('a request whose client disconnected while it waited for its turn runs nothing', async () => {
  const turn = Promise.withResolvers<string>()
  const ran: string[] = []
  const hold = tool({ name: 'hold', description: 'Holds the only slot', run: () => turn.promise })
  const mark = tool({ name: 'mark', description: 'Leaves a mark', run: () => String(ran.push('mark')) })
  const server = createServer(defineServer({ name: 'edge', version: '1', tools: [hold, mark] }))
  const fetch = toFetch(server, { admission: admission({ concurrency: 1, queue: 1 }) })
  const first = fetch(post(modern('tools/call', { name: 'hold' })))
  const disconnecting = new AbortController()
  const served = Promise.withResolvers<unknown>()
  const waitUntil = (work: Promise<unknown>): void => {
    work.then(served.resolve, served.reject)
  }
  const marking = post(modern('tools/call', { name: 'mark' }), {}, { signal: disconnecting.signal })
  fetch(marking, undefined, { waitUntil }).catch(expect.unreachable)
  disconnecting.abort()
  turn.resolve('done')
  expect((await first).status).toBe(200)
  await served.promise
  expect(ran).toEqual([])
})

test('a reader that is behind loses logs and still gets its answer', async () => {
  const fetch = toFetch(createServer(definition))
  const message = modern('tools/call', { name: 'flood' }, { 'io.modelcontextprotocol/logLevel': 'info' })
  const text = await (await fetch(post(message))).text()
  expect(text).toContain('"text":"done"')
  expect(text.length).toBeGreaterThan(1024 * 1024)
  expect(text.length).toBeLessThan(1.2 * 1024 * 1024)
})

test('a stalled reader is disconnected when messages that cannot be dropped pile up', async () => {
  const server = createServer(definition)
  const fetch = toFetch(server)
  const response = await fetch(post(modern('subscriptions/listen', { notifications: { toolsListChanged: true } })))
  for (let change = 0; change < 100_000; change++) server.listChanged('tools')
  await expect(response.text()).rejects.toThrow('stalled')
})

test.each<[string, Request, number]>([
  ['a foreign host', new Request('http://evil.example/mcp', { method: 'POST', body: '{}' }), 403],
  ['a foreign origin', post(modern('ping'), { origin: 'https://evil.example' }), 403],
  ['another method', new Request('http://localhost/mcp', { method: 'PUT', body: '{}' }), 405],
  [
    'a form',
    new Request('http://localhost/mcp', {
      method: 'POST',
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
    415,
  ],
  ['a body that is not UTF-8', post({}, {}, { body: new Uint8Array([0x7b, 0xff]) }), 400],
  ['half a character at the end', post({}, {}, { body: new Uint8Array([0x7b, 0xc3]) }), 400],
  ['no body', post({}, {}, { body: '' }), 400],
  ['a body that is too large', post({ x: 'y'.repeat(2 * 1024 * 1024) }), 413],
  ['a notification', post({ jsonrpc: '2.0', method: 'notifications/initialized' }), 202],
])('%s gets its status', async (_, request, status) => {
  expect((await toFetch(createServer(definition))(request)).status).toBe(status)
})

test('a page of a listed origin may call, and gets CORS headers', async () => {
  const fetch = toFetch(createServer(definition), { origins: ['https://app.example'] })
  const origin = 'https://app.example'
  const preflight = await fetch(
    new Request('http://localhost/mcp', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': 'content-type, mcp-param-region, x-evil' },
    }),
  )
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, mcp-param-region')
  const response = await fetch(post(modern('tools/call', { name: 'echo', arguments: { text: 'hi' } }), { origin }))
  expect(response.headers.get('access-control-allow-origin')).toBe(origin)
})

test('without sessions each request of a legacy client is independent', async () => {
  const fetch = toFetch(createServer(definition))
  const ask = (method: string, params: object = {}): Promise<Response> =>
    fetch(post({ jsonrpc: '2.0', id: 1, method, params }, { 'mcp-protocol-version': '2025-11-25' }))
  const started = await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  })
  expect([started.status, started.headers.get('mcp-session-id')]).toEqual([200, null])
  expect(await (await ask('ping')).json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
})

test('with sessions a legacy client gets one', async () => {
  const fetch = toFetch(createServer(definition), { sessions: sessions() })
  const legacy = (message: object, headers: Record<string, string> = {}): Request =>
    post({ jsonrpc: '2.0', ...message }, { 'mcp-protocol-version': '2025-11-25', ...headers })
  const started = await fetch(
    legacy({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } }),
  )
  const session = { 'mcp-session-id': String(started.headers.get('mcp-session-id')) }
  expect(await (await fetch(legacy({ id: 2, method: 'ping' }, session))).json()).toEqual({
    jsonrpc: '2.0',
    id: 2,
    result: {},
  })
  await fetch.close()
  expect((await fetch(legacy({ id: 3, method: 'ping' }, session))).status).toBe(404)
})

test('an answer larger than the limit still arrives on a stream', async () => {
  const large = tool({
    name: 'large',
    description: 'Returns a long text',
    run(_, { progress }) {
      progress(1)
      return 'x'.repeat(3 * 1024 * 1024)
    },
  })
  const fetch = toFetch(createServer(defineServer({ name: 'x', version: '1', tools: [large] })))
  const response = await fetch(post(modern('tools/call', { name: 'large' }, { progressToken: 't' })))
  expect((await response.text()).length).toBeGreaterThan(3 * 1024 * 1024)
})
