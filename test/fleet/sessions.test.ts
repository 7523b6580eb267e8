/** Legacy sessions on a fleet: opened on one process, used on any, without sticky routing. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { apiKeys } from 'sluice'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { envelope } from '../kit/clients/envelope.ts'
import type { Headers } from '../kit/clients/fleet.client.ts'
import {
  callTool,
  nextMessage,
  openEventStream,
  openSession,
  remainingMessages,
  toolCall,
} from '../kit/clients/fleet.client.ts'
import type { ServerEvent } from '../kit/clients/http-events.ts'
import { eventsOf, modernHeaders, post } from '../kit/clients/http-events.ts'
import type { Params } from '../kit/clients/protocol.ts'
import { openSocket } from '../kit/clients/streaming.client.ts'
import type { Fleet, Member } from '../kit/processes/fleet.ts'
import { startFleet } from '../kit/processes/fleet.ts'
import { openShared } from '../kit/processes/shared-store.ts'

let fleet: Fleet
let one: Member
let two: Member
let three: Member
let balanced: string
let ann: string
beforeAll(async () => {
  fleet = await startFleet({ KEYS: 'yes' })
  ;[one, two, three] = fleet.members
  balanced = fleet.balancer.url
  ann = fleet.keys.ann
}, 60_000)
afterAll(() => fleet.stop(), 30_000)

const key = (): string => Math.random().toString(36).slice(2)
const looked = async (of: string, at: string): Promise<unknown> =>
  (await callTool(balanced, { authorization: `Bearer ${ann}` }, 'look', { of, key: at }))['found']

/** Subscribes in 2026-07-28, on one process. */
async function listen(url: string, notifications: Params) {
  const message: Params = {
    ...{ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen' },
    params: { notifications, _meta: envelope({}) },
  }
  const controller = new AbortController()
  const headers = { ...modernHeaders(message), authorization: `Bearer ${ann}` }
  const events = eventsOf(await post(url, message, headers, controller.signal))
  expect((await nextMessage(events)).message).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  return { events, drop: () => controller.abort() }
}
/** Returns when every process knows of the change. Otherwise the streams of a later test would receive it too. */
async function relist(url: string, session: Headers): Promise<void> {
  const listening = await Promise.all(fleet.members.map((member) => listen(member.url, { toolsListChanged: true })))
  await callTool(url, session, 'relist')
  for (const { events, drop } of listening) {
    await nextMessage(events)
    drop()
  }
}
const nextMethods = async (events: AsyncGenerator<ServerEvent>): Promise<readonly unknown[]> =>
  [(await nextMessage(events)).message['method'], (await nextMessage(events)).message['method']].sort()

test('a session is served by every process', async () => {
  const session = await openSession(balanced, ann)
  const seen = new Set<unknown>()
  for (let call = 0; call < 12; call++) seen.add((await callTool(balanced, session, 'where'))['self'])
  expect([...seen].sort()).toEqual(['one', 'three', 'two'])
})

test('a question of one process is answered through another, once', async () => {
  const session = await openSession(one.url, ann)
  const asking = eventsOf(await post(two.url, toolCall('greet'), session))
  const { message } = await nextMessage(asking)
  expect(message).toMatchObject({ method: 'elicitation/create' })
  const answer = { jsonrpc: '2.0', id: message['id'], result: { action: 'accept', content: { name: 'Ann' } } }
  const foreign = await openSession(three.url, ann)
  expect((await post(three.url, answer, foreign)).status).toBe(400)
  expect((await post(three.url, answer, session)).status).toBe(202)
  expect((await nextMessage(asking)).message).toMatchObject({
    result: { structuredContent: { self: 'two', name: 'Ann' } },
  })
  expect((await post(one.url, answer, session)).status).toBe(400)
})

test('the official client asks and answers through the balancer', async () => {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Bob' } }))
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    ...{ model: 'm', role: 'assistant' },
    content: { type: 'text', text: 'y' },
  }))
  const requestInit = { headers: { authorization: `Bearer ${ann}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(balanced), { requestInit }))
  onTestFinished(() => client.close())
  for (let round = 0; round < 4; round++) {
    const greeted = await client.callTool({ name: 'greet', arguments: {} })
    expect(greeted.structuredContent).toMatchObject({ name: 'Bob' })
    const summary = await client.callTool({ name: 'summarize', arguments: {} })
    expect(summary.structuredContent).toMatchObject({ model: 'm' })
  }
})

test('a client of HTTP+SSE, whose messages go to any process, receives every answer on its one stream', async () => {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Eve' } }))
  const headers = { authorization: `Bearer ${ann}` }
  const transport = new SSEClientTransport(new URL('/sse', balanced), {
    requestInit: { headers },
    eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } }) },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const seen = new Set<unknown>()
  for (let call = 0; call < 9; call++) {
    const { structuredContent } = await client.callTool({ name: 'where', arguments: {} })
    seen.add((structuredContent as Params)['self'])
  }
  expect([...seen].sort()).toEqual(['one', 'three', 'two'])
})

test('a stream that broke is resumed on another process, in the middle and after the end', async () => {
  const session = await openSession(one.url, ann)
  const at = key()
  const controller = new AbortController()
  const holding = await post(
    two.url,
    toolCall('hold', { key: at }, 'h', { progressToken: 'p' }),
    session,
    controller.signal,
  )
  const { id, message } = await nextMessage(eventsOf(holding))
  expect(message).toMatchObject({ method: 'notifications/progress', params: { progress: 1 } })
  controller.abort()
  const middle = await openEventStream(three.url, { ...session, 'last-event-id': id })
  await callTool(one.url, session, 'release', { key: at })
  const expected = [
    { method: 'notifications/progress', params: { progress: 2 } },
    { id: 'h', result: { structuredContent: { self: 'two' } } },
  ]
  expect(await remainingMessages(middle.response)).toMatchObject(expected)
  const after = await openEventStream(one.url, { ...session, 'last-event-id': id })
  expect(await remainingMessages(after.response)).toMatchObject(expected)
  const other = await openSession(one.url, ann)
  expect((await openEventStream(three.url, { ...other, 'last-event-id': id })).response.status).toBe(400)
})

test('a cancellation reaches the call on whatever process it runs', async () => {
  const session = await openSession(one.url, ann)
  const at = key()
  const holding = await post(two.url, toolCall('hold', { key: at }, 'h', { progressToken: 'p' }), session)
  await nextMessage(eventsOf(holding))
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'h' } }
  expect((await post(three.url, cancel, session)).status).toBe(202)
  await expect.poll(() => looked('stopped', at), { timeout: 20_000 }).toBe('two')
})

test('changes on one process are received on the streams of the others, by their subscribers', async () => {
  const session = await openSession(one.url, ann)
  const deaf = await openSession(one.url, ann)
  const [standing, unmoved] = [await openEventStream(two.url, session), await openEventStream(three.url, deaf)]
  const listening = await listen(one.url, { toolsListChanged: true, resourceSubscriptions: ['note://one'] })
  const subscribe = { jsonrpc: '2.0', id: 's', method: 'resources/subscribe', params: { uri: 'note://one' } }
  expect((await post(three.url, subscribe, session)).status).toBe(200)
  await callTool(three.url, session, 'touch')
  await relist(one.url, session)
  // In any order, because two processes sent them.
  const expected = ['notifications/resources/updated', 'notifications/tools/list_changed']
  expect(await nextMethods(eventsOf(standing.response))).toEqual(expected)
  expect(await nextMethods(listening.events)).toEqual(expected)
  // It did not subscribe to the resource.
  expect((await nextMessage(eventsOf(unmoved.response))).message['method']).toBe('notifications/tools/list_changed')
  for (const { drop } of [standing, unmoved, listening]) drop()
})

test('what a stream missed without a client is fetched from another process', async () => {
  const session = await openSession(one.url, ann)
  const first = await openEventStream(two.url, session)
  const events = eventsOf(first.response)
  await relist(three.url, session)
  const { id } = await nextMessage(events)
  first.drop()
  await relist(one.url, session)
  const again = await openEventStream(three.url, { ...session, 'last-event-id': id })
  expect((await nextMessage(eventsOf(again.response))).message['method']).toBe('notifications/tools/list_changed')
  again.drop()
})

test('of two connections to one stream the newer receives, on whatever process', async () => {
  const session = await openSession(one.url, ann)
  const older = await openEventStream(one.url, session)
  const newer = await openEventStream(two.url, session)
  expect(await remainingMessages(older.response)).toEqual([])
  await relist(three.url, session)
  expect((await nextMessage(eventsOf(newer.response))).message['method']).toBe('notifications/tools/list_changed')
  newer.drop()
})

test('the end of a session ends its calls and streams everywhere', async () => {
  const session = await openSession(one.url, ann)
  const at = key()
  const standing = await openEventStream(three.url, session)
  const holding = await post(two.url, toolCall('hold', { key: at }, 'h', { progressToken: 'p' }), session)
  const events = eventsOf(holding)
  await nextMessage(events)
  expect((await fetch(one.url, { method: 'DELETE', headers: session })).status).toBe(204)
  expect((await events.next()).done).toBe(true)
  expect(await remainingMessages(standing.response)).toEqual([])
  await expect.poll(() => looked('stopped', at), { timeout: 20_000 }).toBe('two')
  for (const { url } of fleet.members) expect((await post(url, toolCall('where'), session)).status).toBe(404)
})

test('a session belongs to its opener, on every process', async () => {
  const session = await openSession(one.url, ann)
  const stolen = { ...session, authorization: `Bearer ${fleet.keys.bob}` }
  for (const { url } of fleet.members) {
    expect((await post(url, toolCall('where'), stolen)).status).toBe(404)
    expect((await openEventStream(url, stolen)).response.status).toBe(404)
    expect((await fetch(url, { method: 'DELETE', headers: stolen })).status).toBe(404)
    const { authorization: _, ...bare } = session
    expect((await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, bare)).status).toBe(401)
  }
  expect((await callTool(balanced, session, 'where'))['self']).toBeDefined()
})

test('streams, sockets and subscriptions end everywhere when their key is revoked', async () => {
  const { store, bus, close } = openShared(fleet.storeUrl)
  onTestFinished(close)
  const keys = apiKeys(store, { bus })
  const { secret, key: carol } = await keys.create({ subject: 'carol' })
  const bearer = { authorization: `Bearer ${secret}` }
  const session = await openSession(one.url, secret)
  const standing = await openEventStream(two.url, session)
  expect(standing.response.status).toBe(200)
  const old = await openEventStream(three.url.replace('/mcp', '/sse'), bearer)
  expect(old.response.status).toBe(200)
  const message = {
    ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
    params: { notifications: { toolsListChanged: true }, _meta: envelope({}) },
  }
  const listening = await post(one.url, message, { ...modernHeaders(message), ...bearer })
  expect(listening.status).toBe(200)
  const socket = await openSocket(`${three.url.replace('http', 'ws').replace('/mcp', '/ws')}`, bearer)
  expect(await keys.revoke(carol.id)).toBe(true)
  expect(await remainingMessages(standing.response)).toEqual([])
  await old.response.text()
  expect((await remainingMessages(listening)).at(-1)).toMatchObject({
    id: 1,
    error: { data: { reason: 'unauthorized' } },
  })
  expect(await socket.closed).toMatchObject({ closed: 3000 })
})

test('a limit is one limit, whatever the number of processes', async () => {
  const bearer = { authorization: `Bearer ${ann}` }
  const message = toolCall('limited', {}, 1, envelope({}))
  const call = async (): Promise<number> =>
    (await post(balanced, message, { ...modernHeaders(message), ...bearer })).status
  const statuses: number[] = []
  // A few at a time: a limiter that waits longer than 250 ms for a busy store counts alone.
  while (statuses.length < 60) statuses.push(...(await Promise.all(Array.from({ length: 6 }, call))))
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(40)
})
