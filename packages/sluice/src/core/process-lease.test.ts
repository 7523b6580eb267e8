import { expect, test } from 'vitest'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from '../testing/clock.ts'
import { createProcessLease, isProcessAlive, leaseMs } from './process-lease.ts'

test('a process is alive while it holds a lease, and gone 20 s after it released the last one', async () => {
  const clock = fakeClock()
  const store = memoryStore(clock)
  const lease = createProcessLease(store, clock)
  const release = await lease.hold()
  await clock.advance(10 * leaseMs)
  expect(await isProcessAlive(store, lease.id)).toBe(true)
  release()
  await clock.advance(leaseMs)
  expect(await isProcessAlive(store, lease.id)).toBe(false)
})

test('if the clock knows turns, a lease that is released within its turn starts no timer, and others are renewed', async () => {
  const clock = fakeClock()
  const store = memoryStore(clock)
  let endTurn = (): void => {}
  const lease = createProcessLease(store, { ...clock, turn: (then) => (endTurn = then) })
  const [first, second] = [await lease.hold(), await lease.hold()]
  first()
  endTurn()
  expect(clock.pending).toBe(1)
  for (let renewals = 0; renewals < 8; renewals++) {
    await clock.advance(5_000)
    endTurn()
  }
  expect(await isProcessAlive(store, lease.id)).toBe(true)
  second()
  await lease.close()
  expect(clock.pending).toBe(0)
})
