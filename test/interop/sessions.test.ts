/** Sessions of the earlier revisions over HTTP: their streams, resumption, and their end. */

import type { ServeHttpOptions } from 'sluice/node'
import { serveHttp, sessions } from 'sluice/node'
import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { envelope, toInitialize } from '../kit/clients/envelope.ts'
import type { ServerEvent } from '../kit/clients/http-events.ts'
import { eventsOf, isStream, messagesOf, modernHeaders, post } from '../kit/clients/http-events.ts'
import type { Params, Revision } from '../kit/clients/protocol.client.ts'
import { allCapabilities, isObject, legacy, modern, resultOf } from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

type Headers = { readonly [name: string]: string }
interface Served {
  readonly url: string
  readonly server: ReturnType<typeof createEverything>
}

async function served(options: ServeHttpOptions = {}, server = createEverything()): Promise<Served> {
  const { url, close } = await serveHttp(server, { port: 0, ...options })
  onTestFinished(close)
  return { url, server }
}
const initialize = (revision: Revision): Params => ({
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: toInitialize({ revision, capabilities: allCapabilities }),
})
async function begin(url: string, revision: Revision): Promise<Headers> {
  const response = await post(url, initialize(revision))
  expect(response.status).toBe(200)
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': revision }
  expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202)
  return session
}
async function get(url: string, headers: Headers): Promise<{ response: Response; drop(): void }> {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: controller.signal })
  return { response, drop: () => controller.abort() }
}
const call = (name: string, args: Params, more: Params = {}): Params => ({
  jsonrpc: '2.0',
  id: name,
  method: 'tools/call',
  params: { name, arguments: args, ...more },
})
const ping: Params = { jsonrpc: '2.0', id: 'ping', method: 'ping' }
const methodOf = ({ data }: ServerEvent): unknown => (data ? JSON.parse(data).method : undefined)
/** Returns the next event with a message; priming events are skipped. */
async function nextOf(events: AsyncGenerator<ServerEvent>): Promise<ServerEvent> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('The stream has ended')
    if (value.data) return value
  }
}

describe.each(legacy)('%s', (revision) => {
  test('a handshake opens a session with an id that fits into a header', async () => {
    const { url } = await served()
    const [one, two] = [await begin(url, revision), await begin(url, revision)]
    expect(one['mcp-session-id']).toMatch(/^[\x21-\x7e]{22,}$/)
    expect(one['mcp-session-id']).not.toBe(two['mcp-session-id'])
  })
  test('a message without a session, or of an ended one, is refused', async () => {
    const { url } = await served()
    const session = await begin(url, revision)
    expect((await post(url, ping)).status).toBe(400)
    expect((await post(url, ping, { 'mcp-session-id': 'unknown' })).status).toBe(404)
    expect((await post(url, ping, session)).status).toBe(200)
    const ended = await fetch(url, { method: 'DELETE', headers: session })
    expect(ended.status).toBe(204)
    expect((await post(url, ping, session)).status).toBe(404)
    expect((await get(url, session)).response.status).toBe(404)
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(404)
  })
  test('the end of a session ends its streams and aborts its calls', async () => {
    const { url } = await served()
    const [session, other] = [await begin(url, revision), await begin(url, revision)]
    const standing = await get(url, session)
    const running = await post(url, call('slow', { key: 'k' }, { _meta: { progressToken: 1 } }), session)
    const events = eventsOf(running)
    expect(methodOf(await nextOf(events))).toBe('notifications/progress')
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(204)
    // Both streams end by themselves, without an answer.
    expect((await events.next()).done).toBe(true)
    expect((await eventsOf(standing.response).next()).done).toBe(true)
    const ended = await post(url, call('ended', { key: 'k' }), other)
    expect(await ended.json()).toMatchObject({ result: { content: [{ text: 'aborted k' }] } })
  })
  test('the standalone stream receives a change exactly once', async () => {
    const { url, server } = await served()
    const session = await begin(url, revision)
    const { response } = await get(url, session)
    expect(isStream(response)).toBe(true)
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const events = eventsOf(response)
    // The stream of a call does not receive it.
    const done = await post(url, call('change', { list: 'tools' }), session)
    expect(isStream(done)).toBe(false)
    await post(url, call('change', { list: 'prompts' }), session)
    expect(methodOf(await nextOf(events))).toBe('notifications/tools/list_changed')
    expect(methodOf(await nextOf(events))).toBe('notifications/prompts/list_changed')
    server.resourceUpdated('note://nobody-subscribed')
    await post(url, call('change', { list: 'resources' }), session)
    expect(methodOf(await nextOf(events))).toBe('notifications/resources/list_changed')
  })
  test('of two standalone streams only the newest receives changes', async () => {
    const { url } = await served()
    const session = await begin(url, revision)
    const [older, newer] = [await get(url, session), await get(url, session)]
    await post(url, call('change', { list: 'tools' }), session)
    expect(methodOf(await nextOf(eventsOf(newer.response)))).toBe('notifications/tools/list_changed')
    expect((await eventsOf(older.response).next()).done).toBe(true)
  })
  test('a standalone stream that broke resumes after the last event', async () => {
    const { url } = await served()
    const session = await begin(url, revision)
    const first = await get(url, session)
    const events = eventsOf(first.response)
    await post(url, call('change', { list: 'tools' }), session)
    const { id = '' } = await nextOf(events)
    first.drop()
    await post(url, call('change', { list: 'prompts' }), session)
    await post(url, call('change', { list: 'resources' }), session)
    const again = eventsOf((await get(url, { ...session, 'last-event-id': id })).response)
    expect(methodOf(await nextOf(again))).toBe('notifications/prompts/list_changed')
    expect(methodOf(await nextOf(again))).toBe('notifications/resources/list_changed')
  })
  test('a call whose stream broke continues, and its answer is fetched by the last event', async () => {
    const { url } = await served()
    const session = await begin(url, revision)
    const controller = new AbortController()
    const counting = call('count', { key: 'k', to: 3 }, { _meta: { progressToken: 'p' } })
    const running = await post(url, counting, session, controller.signal)
    const { id = '', data = '' } = await nextOf(eventsOf(running))
    expect(JSON.parse(data)).toMatchObject({ params: { progress: 1 } })
    controller.abort()
    await post(url, call('proceed', { key: 'k' }), session)
    const again = await get(url, { ...session, 'last-event-id': id })
    const seen: unknown[] = []
    for await (const event of eventsOf(again.response)) if (event.data) seen.push(JSON.parse(event.data))
    expect(seen).toMatchObject([
      { method: 'notifications/progress', params: { progress: 2 } },
      { method: 'notifications/progress', params: { progress: 3 } },
      { id: 'count', result: { content: [{ text: 'counted to 3' }] } },
    ])
    // Again from the same event: acknowledged events are dropped, the rest is still there.
    const { response } = await get(url, { ...session, 'last-event-id': id })
    const repeated: unknown[] = []
    for await (const message of messagesOf(response)) repeated.push(message)
    expect(repeated).toEqual(seen)
  })
  test('another session cannot fetch it', async () => {
    const { url } = await served()
    const [session, other] = [await begin(url, revision), await begin(url, revision)]
    const running = await post(url, call('slow', { key: 'k' }, { _meta: { progressToken: 'p' } }), session)
    const { id = '' } = await nextOf(eventsOf(running))
    expect((await get(url, { ...other, 'last-event-id': id })).response.status).toBe(400)
    expect((await get(url, { ...session, 'last-event-id': 'nothing.1' })).response.status).toBe(400)
    await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } }, session)
  })
  test('the first event of a stream has only an id on 2025-11-25, and on no other revision', async () => {
    const { url } = await served()
    const session = await begin(url, revision)
    const running = await post(url, call('slow', { key: 'k' }, { _meta: { progressToken: 'p' } }), session)
    const { value } = await eventsOf(running).next()
    expect(value?.id).toEqual(expect.any(String))
    expect(value?.data === '').toBe(revision === '2025-11-25')
    await post(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } }, session)
  })
  test('a client that is idle for long loses its session', async () => {
    const clock = fakeClock()
    const { url } = await served({ sessions: sessions({ idleMs: 60_000 }) }, createEverything({ clock }))
    const session = await begin(url, revision)
    await clock.advance(59_000)
    expect((await post(url, ping, session)).status).toBe(200)
    await clock.advance(59_000)
    expect((await post(url, ping, session)).status).toBe(200)
    await clock.advance(120_000)
    expect((await post(url, ping, session)).status).toBe(404)
  })
  test('an open stream gets keep-alives', async () => {
    const clock = fakeClock()
    const { url } = await served({ keepAliveMs: 15_000 }, createEverything({ clock }))
    const { response } = await get(url, await begin(url, revision))
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    await clock.advance(15_000)
    expect((await reader?.read())?.value).toBe(': keep-alive\n\n')
  })
  test('without sessions each request is independent, and no question can be asked', async () => {
    const { url } = await served({ sessions: false })
    const header = { 'mcp-protocol-version': revision }
    const opened = await post(url, initialize(revision))
    expect(opened.headers.get('mcp-session-id')).toBeNull()
    expect(resultOf((await opened.json()) as Params)['protocolVersion']).toBe(revision)
    expect(await (await post(url, ping, header)).json()).toEqual({ jsonrpc: '2.0', id: 'ping', result: {} })
    expect(await (await post(url, call('folders', {}), header)).json()).toMatchObject({ result: { isError: true } })
    expect((await get(url, header)).response.status).toBe(405)
    expect((await fetch(url, { method: 'DELETE', headers: header })).status).toBe(405)
  })
})

describe(modern, () => {
  const list: Params = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope({}) } }

  test('has no sessions, and ignores the id of one', async () => {
    const { url } = await served()
    const response = await post(url, list, {
      ...modernHeaders(list),
      'mcp-session-id': 'unknown',
      'last-event-id': 'x.1',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('mcp-session-id')).toBeNull()
  })
  test('is served beside a session, with its id', async () => {
    const { url } = await served()
    const session = await begin(url, '2024-11-05')
    const body = await (await post(url, list, { ...session, ...modernHeaders(list) })).json()
    const tools = resultOf(body as Params)['tools']
    expect(Array.isArray(tools) && tools.filter(isObject).find(({ name }) => name === 'weather')).toHaveProperty(
      'icons',
    )
  })
  test.each(['GET', 'DELETE', 'PUT'])('%s is not allowed', async (method) => {
    const { url } = await served()
    const response = await fetch(url, {
      method,
      headers: { 'mcp-protocol-version': modern, accept: 'text/event-stream' },
    })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toContain('POST')
  })
  test('events have no ids: a stream that broke is lost, and so is its call', async () => {
    const { url } = await served()
    const message = call('slow', { key: 'k' }, { _meta: { ...envelope({}), progressToken: 'p' } })
    const controller = new AbortController()
    const running = await post(url, message, modernHeaders(message), controller.signal)
    const { value } = await eventsOf(running).next()
    expect(value).not.toHaveProperty('id')
    controller.abort()
    const ended = call('ended', { key: 'k' }, { _meta: envelope({}) })
    const answer = await post(url, ended, modernHeaders(ended))
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: 'aborted k' }] } })
  })
})
