import { fakeClock, settle } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { watchFolder } from './watch.ts'

/** Of a folder that is not there the system tells nothing; that it does tell of a real one is in `test/knowledge`. */
function watched(changed: () => Promise<void>) {
  const clock = fakeClock()
  const end = watchFolder('/nowhere/at/all', clock, changed)
  onTestFinished(end)
  return { clock, end }
}

test('where the system tells nothing, it is looked at every ten seconds until it ends', async () => {
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

test('a look that takes long is not joined by another', async () => {
  const waiting: (() => void)[] = []
  const { clock } = watched(() => new Promise((resolve) => waiting.push(resolve)))
  await clock.advance(60_000)
  expect(waiting).toHaveLength(1)
  waiting[0]?.()
  await settle()
  await clock.advance(10_000)
  expect(waiting).toHaveLength(2)
})

test('ended during a look, it does not begin another', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, end } = watched(() => promise)
  await clock.advance(10_000)
  end()
  resolve()
  await clock.advance(60_000)
  expect(clock.pending).toBe(0)
})
