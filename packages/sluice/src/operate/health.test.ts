import { expect, test } from 'vitest'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from '../testing/clock.ts'
import type { HealthOptions } from './health.ts'
import { createHealth } from './health.ts'
import { metricsPage } from './metrics-page.ts'

const here = '127.0.0.1'
function health(given: Partial<HealthOptions> = {}) {
  const clock = fakeClock()
  return { clock, ask: createHealth({ clock, store: memoryStore(clock), isDraining: () => false, ...given }) }
}
const storeWith = (set: Store['set']): Store => ({ ...memoryStore(fakeClock()), set })

test('alive and ready while nothing is wrong', async () => {
  const { ask, clock } = health()
  expect(await ask('/healthz', here)).toMatchObject({ status: 200, body: 'alive\n' })
  expect(await ask('/readyz', here)).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
  expect(clock.pending).toBe(0)
})

test('while draining it is alive and not ready', async () => {
  const { ask } = health({ isDraining: () => true })
  expect(await ask('/readyz', here)).toMatchObject({ status: 503, body: 'draining\n' })
  expect(await ask('/healthz', here)).toMatchObject({ status: 200 })
})

test('a store that takes no writes, or not in time, makes it not ready; one that is back makes it ready', async () => {
  let answer: () => Promise<void> = () => Promise.reject(new Error('full'))
  const { ask, clock } = health({ store: storeWith(() => answer()) })
  expect(await ask('/readyz', here)).toMatchObject({ status: 503 })
  answer = () => new Promise(() => {})
  await clock.advance(1_000)
  const slow = ask('/readyz', here)
  await clock.advance(1_000)
  expect(await slow).toMatchObject({ status: 503, body: 'the store takes no writes\n' })
  answer = async () => undefined
  expect(await ask('/readyz', here)).toMatchObject({ status: 200 })
})

test('however many probes there are, the store is asked once a second', async () => {
  let asked = 0
  const { ask, clock } = health({
    store: storeWith(async () => {
      asked++
    }),
  })
  for (let second = 1; second <= 3; second++) {
    for (let tenth = 0; tenth < 10; tenth++) {
      await Promise.all(Array.from({ length: 5 }, () => ask('/readyz', here)))
      await clock.advance(100)
    }
    expect(asked).toBe(second)
  }
})

test('a clock that was set back puts nothing off', async () => {
  let [now, asked] = [1_000_000, 0]
  const clock = { now: () => now, after: () => () => {} }
  const { ask } = health({
    clock,
    store: storeWith(async () => {
      asked++
    }),
  })
  await ask('/readyz', here)
  now = 0
  await ask('/readyz', here)
  expect(asked).toBe(2)
})

test('the metrics are served as text, where there are any', async () => {
  expect(await metricsPage(() => 'a 1\n')('/metrics', here)).toMatchObject({
    status: 200,
    body: 'a 1\n',
    headers: { 'content-type': expect.stringContaining('version=0.0.4') },
  })
  expect(await metricsPage(() => 'a 1\n')('/metrics/', here)).toBeUndefined()
  expect(await health().ask('/metrics', here)).toBeUndefined()
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['127.0.0.1.evil.example', false],
  ['', false],
])('by default a reader at %s may read: %s', async (peer, may) => {
  const { ask } = health()
  for (const path of ['/healthz', '/readyz']) expect((await ask(path, peer)) !== undefined).toBe(may)
  expect((await metricsPage(() => '')('/metrics', peer)) !== undefined).toBe(may)
})

test('who may read is the operator’s choice', async () => {
  expect(await health({ readers: 'everyone' }).ask('/healthz', '203.0.113.9')).toMatchObject({ status: 200 })
  const { ask } = health({ readers: (peer) => peer.startsWith('10.') })
  expect(await ask('/healthz', '10.1.2.3')).toMatchObject({ status: 200 })
  expect(await ask('/healthz', here)).toBeUndefined()
})

test('other paths are not its business', async () => {
  for (const path of ['/', '/mcp', '/healthz/', '/HEALTHZ', '/metrics?x'])
    expect(await health().ask(path, here)).toBeUndefined()
})
