/** Rolling restarts under load, in small; `npm run soak -- rolling-restart` does the same for minutes. */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsOf, post } from '../interop/http.ts'
import { begin, get, next, rest, run, tools } from './client.ts'
import type { Fleet } from './fleet.ts'
import { startFleet } from './fleet.ts'
import { roll } from './rolling.ts'

let fleet: Fleet
beforeAll(async () => {
  fleet = await startFleet({ KEYS: 'yes', NOTICE_MS: '3000' })
}, 60_000)
afterAll(() => fleet.stop(), 30_000)

test('with SIGTERM no call fails at all, and each process ends with 0', { timeout: 120_000 }, async () => {
  const rolled = await roll(fleet, { signal: 'SIGTERM', callers: 4, goOn: (restarts) => restarts < 3 })
  expect(rolled.lost).toEqual([])
  expect(rolled.inFlight).toEqual([])
  expect(rolled.exits).toEqual([0, 0, 0])
  expect(Object.keys(rolled.by).sort()).toEqual(['one', 'three', 'two'])
})

test('with kill −9 only calls in flight on that process fail, and they are told', { timeout: 120_000 }, async () => {
  const rolled = await roll(fleet, { signal: 'SIGKILL', callers: 4, goOn: (restarts) => restarts < 3 })
  expect(rolled.lost).toEqual([])
  expect(rolled.exits).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL'])
  for (const { problem } of rolled.inFlight) expect(problem).toContain('The process that ran this call has ended')
})

test('a session outlives the process it was opened on, and what its streams had said', async () => {
  const [one, two, three] = fleet.members
  const session = await begin(one.url, fleet.keys.ann)
  const holding = await post(one.url, tools('hold', { key: 'crash' }, 'h', { progressToken: 'p' }), session)
  const { id } = await next(eventsOf(holding))
  one.kill('SIGKILL')
  await one.exited
  expect(await run(two.url, session, 'where')).toEqual({ self: 'two' })
  const again = await get(three.url, { ...session, 'last-event-id': id.replace(/\d+$/, '0') })
  expect((await next(eventsOf(again.response))).message).toMatchObject({ params: { progress: 1 } })
  again.drop()
  await one.restart()
  await fleet.ready()
}, 60_000)

test('a process that drains says so at once, serves on, ends its streams, refuses, and finishes what it began', async () => {
  const [, two, three] = fleet.members
  const ready = (): Promise<number> => fetch(new URL('/readyz', two.url)).then(({ status }) => status)
  expect(await ready()).toBe(200)
  const session = await begin(two.url, fleet.keys.ann)
  const standing = await get(two.url, session)
  const holding = await post(two.url, tools('hold', { key: 'drain' }, 'h', { progressToken: 'p' }), session)
  const events = eventsOf(holding)
  await next(events)
  two.kill('SIGTERM')
  await expect.poll(ready).toBe(503)
  expect(await run(two.url, session, 'where')).toEqual({ self: 'two' })
  // The time to notice is over when streams that only wait end.
  expect(await rest(standing.response)).toEqual([])
  const refused = await post(two.url, tools('where'), session)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.json()).toMatchObject({ error: { data: { reason: 'shuttingDown' } } })
  await run(three.url, session, 'release', { key: 'drain' })
  expect((await next(events)).message).toMatchObject({ method: 'notifications/progress' })
  expect((await next(events)).message).toMatchObject({ id: 'h', result: { structuredContent: { self: 'two' } } })
  expect(await two.exited).toBe(0)
  await two.restart()
}, 60_000)

test('a second signal ends now', async () => {
  const [, , three] = fleet.members
  three.kill('SIGTERM')
  await expect.poll(() => fetch(new URL('/readyz', three.url)).then(({ status }) => status)).toBe(503)
  three.kill('SIGTERM')
  expect(await three.exited).toBe(143)
  await expect(refusedBy(three.port)).resolves.toBe('ECONNREFUSED')
  await three.restart()
}, 60_000)

const refusedBy = (port: number): Promise<unknown> =>
  new Promise((resolve) =>
    connect(port, '127.0.0.1')
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
      .on('connect', () => resolve('connected')),
  )
