import { expect, test } from 'vitest'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from '../testing/clock.ts'
import type { HealthOptions } from './health.ts'
import { createHealth } from './health.ts'
import { metricsPage } from './metrics-page.ts'

const loopback = '127.0.0.1'
function health(overrides: Partial<HealthOptions> = {}) {
  const clock = fakeClock()
  return { clock, ask: createHealth({ clock, store: memoryStore(clock), isDraining: () => false, ...overrides }) }
}
const storeWith = (set: Store['set']): Store => ({ ...memoryStore(fakeClock()), set })

test('is alive and ready', async () => {
  const { ask, clock } = health()
  expect(await ask('/healthz', loopback)).toMatchObject({ status: 200, body: 'alive\n' })
  expect(await ask('/readyz', loopback)).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
  expect(clock.pending).toBe(0)
})

test('is alive and not ready while draining', async () => {
  const { ask } = health({ isDraining: () => true })
  expect(await ask('/readyz', loopback)).toMatchObject({ status: 503, body: 'draining\n' })
  expect(await ask('/healthz', loopback)).toMatchObject({ status: 200 })
})

test('is not ready while the store refuses writes or is too slow, and ready again when it recovers', async () => {
  let answer: () => Promise<void> = () => Promise.reject(new Error('full'))
  const { ask, clock } = health({ store: storeWith(() => answer()) })
  expect(await ask('/readyz', loopback)).toMatchObject({ status: 503 })
  answer = () => new Promise(() => {})
  await clock.advance(1_000)
  const slow = ask('/readyz', loopback)
  await clock.advance(1_000)
  expect(await slow).toMatchObject({ status: 503, body: 'the store accepts no writes\n' })
  answer = async () => undefined
  expect(await ask('/readyz', loopback)).toMatchObject({ status: 200 })
})

test('writes to the store at most once a second, for any number of probes', async () => {
  let writes = 0
  const { ask, clock } = health({
    store: storeWith(async () => {
      writes++
    }),
  })
  for (let second = 1; second <= 3; second++) {
    for (let tenth = 0; tenth < 10; tenth++) {
      await Promise.all(Array.from({ length: 5 }, () => ask('/readyz', loopback)))
      await clock.advance(100)
    }
    expect(writes).toBe(second)
  }
})

test('probes the store again after the clock was set back', async () => {
  let [now, writes] = [1_000_000, 0]
  const clock = { now: () => now, after: () => () => {} }
  const { ask } = health({
    clock,
    store: storeWith(async () => {
      writes++
    }),
  })
  await ask('/readyz', loopback)
  now = 0
  await ask('/readyz', loopback)
  expect(writes).toBe(2)
})

test('serves the metrics as text', async () => {
  expect(await metricsPage(() => 'a 1\n')('/metrics', loopback)).toMatchObject({
    status: 200,
    body: 'a 1\n',
    headers: { 'content-type': expect.stringContaining('version=0.0.4') },
  })
  expect(await metricsPage(() => 'a 1\n')('/metrics/', loopback)).toBeUndefined()
  expect(await health().ask('/metrics', loopback)).toBeUndefined()
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
])('by default a reader at %s has access: %s', async (peer, mayRead) => {
  const { ask } = health()
  for (const path of ['/healthz', '/readyz']) expect((await ask(path, peer)) !== undefined).toBe(mayRead)
  expect((await metricsPage(() => '')('/metrics', peer)) !== undefined).toBe(mayRead)
})

test('the operator can choose the readers', async () => {
  expect(await health({ readers: 'everyone' }).ask('/healthz', '203.0.113.9')).toMatchObject({ status: 200 })
  const { ask } = health({ readers: (peer) => peer.startsWith('10.') })
  expect(await ask('/healthz', '10.1.2.3')).toMatchObject({ status: 200 })
  expect(await ask('/healthz', loopback)).toBeUndefined()
})

test('does not serve other paths', async () => {
  for (const path of ['/', '/mcp', '/healthz/', '/HEALTHZ', '/metrics?x'])
    expect(await health().ask(path, loopback)).toBeUndefined()
})
