/** Rolling restarts under load, in short; `npm run soak -- rolling-restart` does the same for minutes. */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { envelope } from '../kit/clients/envelope.ts'
import {
  callTool,
  nextMessage,
  openEventStream,
  openSession,
  remainingMessages,
  toolCall,
} from '../kit/clients/fleet.client.ts'
import { eventsOf, modernHeaders, post } from '../kit/clients/http-events.ts'
import { openSocket } from '../kit/clients/streaming.client.ts'
import type { Fleet, Member } from '../kit/processes/fleet.ts'
import { startFleet } from '../kit/processes/fleet.ts'
import { rollingRestart } from './rolling-restart.ts'

let fleet: Fleet
beforeAll(async () => {
  fleet = await startFleet({ KEYS: 'yes', NOTICE_MS: '4000', GRACE_MS: '60000' })
}, 120_000)
afterAll(() => fleet.stop(), 30_000)

test('with SIGTERM no call fails, and each process exits with 0', { timeout: 120_000 }, async () => {
  const rolled = await rollingRestart(fleet, {
    signal: 'SIGTERM',
    callers: 4,
    shouldContinue: (restarts) => restarts < 3,
  })
  expect(rolled.lost).toEqual([])
  expect(rolled.inFlight).toEqual([])
  expect(rolled.exits).toEqual([0, 0, 0])
  expect(Object.keys(rolled.by).sort()).toEqual(['one', 'three', 'two'])
})

test('with kill −9 only calls in flight on that process fail, and they get an error', {
  timeout: 120_000,
}, async () => {
  const rolled = await rollingRestart(fleet, {
    signal: 'SIGKILL',
    callers: 4,
    shouldContinue: (restarts) => restarts < 3,
  })
  expect(rolled.lost).toEqual([])
  expect(rolled.exits).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL'])
  for (const { problem } of rolled.inFlight) expect(problem).toContain('The process that ran this call has ended')
})

test('a session outlives its first process, and so do the events of its streams', async () => {
  const [one, two, three] = fleet.members
  const session = await openSession(one.url, fleet.keys.ann)
  const holding = await post(one.url, toolCall('hold', { key: 'crash' }, 'h', { progressToken: 'p' }), session)
  const { id } = await nextMessage(eventsOf(holding))
  one.kill('SIGKILL')
  await one.exited
  expect(await callTool(two.url, session, 'where')).toEqual({ self: 'two' })
  const again = await openEventStream(three.url, { ...session, 'last-event-id': id.replace(/\d+$/, '0') })
  expect((await nextMessage(eventsOf(again.response))).message).toMatchObject({ params: { progress: 1 } })
  again.drop()
  await one.restart()
  await fleet.ready()
}, 120_000)

const readiness = (member: Member) => (): Promise<number> =>
  fetch(new URL('/readyz', member.url)).then(({ status }) => status)

test('a draining process reports it at once, continues to serve, ends its streams, refuses, and finishes its calls', async () => {
  const [, two, three] = fleet.members
  const ready = readiness(two)
  expect(await ready()).toBe(200)
  const bearer = { authorization: `Bearer ${fleet.keys.ann}` }
  const old = await openEventStream(two.url.replace('/mcp', '/sse'), bearer)
  const oldEvents = eventsOf(old.response)
  const messages = new URL((await oldEvents.next()).value?.data ?? '', two.url).href
  const idle = await openSocket(two.url.replace('http', 'ws').replace('/mcp', '/ws'), bearer)
  const busy = await openSocket(two.url.replace('http', 'ws').replace('/mcp', '/ws'), bearer)
  const subscribe = {
    ...{ jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen' },
    params: { notifications: { toolsListChanged: true }, _meta: envelope({}) },
  }
  const listening = await post(two.url, subscribe, { ...modernHeaders(subscribe), ...bearer })
  const session = await openSession(two.url, fleet.keys.ann)
  const standing = await openEventStream(two.url, session)
  const holding = await post(two.url, toolCall('hold', { key: 'drain' }, 'h', { progressToken: 'p' }), session)
  const events = eventsOf(holding)
  await nextMessage(events)
  const oldHold = toolCall('hold', { key: 'drain' }, 'o', { progressToken: 'p' })
  expect((await post(messages, oldHold, bearer)).status).toBe(202)
  await nextMessage(oldEvents)
  busy.ws.send(JSON.stringify(toolCall('hold', { key: 'drain' }, 'b', { ...envelope({}), progressToken: 'p' })))
  await busy.next()
  two.kill('SIGTERM')
  await expect.poll(ready).toBe(503)
  expect(await callTool(two.url, session, 'where')).toEqual({ self: 'two' })
  // The notice period is over when idle streams end.
  expect(await remainingMessages(standing.response)).toEqual([])
  expect((await remainingMessages(listening)).at(-1)).toMatchObject({ id: 'l', result: {} })
  expect(await idle.closed).toMatchObject({ closed: 1001 })
  const refused = await post(two.url, toolCall('where'), session)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.json()).toMatchObject({ error: { data: { reason: 'shuttingDown' } } })
  await callTool(three.url, session, 'release', { key: 'drain' })
  expect((await nextMessage(events)).message).toMatchObject({ method: 'notifications/progress' })
  const result = { structuredContent: { self: 'two' } }
  expect((await nextMessage(events)).message).toMatchObject({ id: 'h', result })
  expect((await nextMessage(oldEvents)).message).toMatchObject({ method: 'notifications/progress' })
  expect((await nextMessage(oldEvents)).message).toMatchObject({
    ...{ id: 'o', result: { content: [{ text: '{"self":"two"}' }] } },
  })
  expect((await oldEvents.next()).done).toBe(true)
  expect(await busy.next()).toMatchObject({ method: 'notifications/progress' })
  expect(await busy.next()).toMatchObject({ id: 'b', result })
  expect(await busy.closed).toMatchObject({ closed: 1001 })
  expect(await two.exited).toBe(0)
  await two.restart()
}, 120_000)

test('a second signal ends it immediately', async () => {
  const [, , three] = fleet.members
  // Something that it would wait for, so that the first signal alone does not end it.
  const session = await openSession(three.url, fleet.keys.ann)
  const holding = await post(three.url, toolCall('hold', { key: 'never' }, 'h', { progressToken: 'p' }), session)
  const events = eventsOf(holding)
  await nextMessage(events)
  three.kill('SIGTERM')
  await expect.poll(readiness(three)).toBe(503)
  three.kill('SIGTERM')
  expect(await three.exited).toBe(143)
  await expect(events.next()).rejects.toThrow()
  await expect(refusedBy(three.port)).resolves.toBe('ECONNREFUSED')
  await three.restart()
}, 120_000)

const refusedBy = (port: number): Promise<unknown> =>
  new Promise((resolve) =>
    connect(port, '127.0.0.1')
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      .on('connect', () => resolve('connected')),
  )
