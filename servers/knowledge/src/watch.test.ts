import { fakeClock, settle } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { watchFolder } from './watch.ts'

/** Watches a folder that does not exist, so that the system reports no events. `test/knowledge` covers a real one. */
function watched(changed: () => Promise<void>) {
  const clock = fakeClock()
  const end = watchFolder('/nowhere/at/all', clock, changed)
  onTestFinished(end)
  return { clock, end }
}

test('without system events the folder is polled every ten seconds until the watch ends', async () => {
  let looks = 0
  const { clock, end } = watched(async () => {
    looks++
  })
  await clock.advance(9_999)
  expect(looks).toBe(0)
  await clock.advance(1)
  expect(looks).toBe(1)
  await clock.advance(20_000)
  expect(looks).toBe(3)
  end()
  await clock.advance(60_000)
  expect([looks, clock.pending]).toEqual([3, 0])
})

test('a slow reload does not overlap with another', async () => {
  const waiting: (() => void)[] = []
  const { clock } = watched(() => new Promise((resolve) => waiting.push(resolve)))
  await clock.advance(60_000)
  expect(waiting).toHaveLength(1)
  waiting[0]?.()
  await settle()
  await clock.advance(10_000)
  expect(waiting).toHaveLength(2)
})

test('a watch that ends during a reload does not start another', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, end } = watched(() => promise)
  await clock.advance(10_000)
  end()
  resolve()
  await clock.advance(60_000)
  expect(clock.pending).toBe(0)
})
