import { expect, test } from 'vitest'
import type { FakeClock } from '../testing/clock.ts'
import { fakeClock } from '../testing/clock.ts'
import type { Clock } from './clock.ts'
import { lateTimers } from './turn.ts'

/** A clock with turns that the test ends. */
function turningClock(): { clock: Clock; time: FakeClock; endTurn(): void } {
  const time = fakeClock()
  let turns: (() => void)[] = []
  return {
    clock: { ...time, turn: (then) => turns.push(then) },
    time,
    endTurn() {
      const due = turns
      turns = []
      for (const then of due) then()
    },
  }
}

test('a timer that is cancelled within its turn never starts', () => {
  const { clock, time, endTurn } = turningClock()
  const after = lateTimers(clock)
  const cancelTimer = after(1_000, () => {})
  cancelTimer()
  endTurn()
  expect(time.pending).toBe(0)
})

test('a timer that outlives its turn fires once, counted from its start, and can still be cancelled', async () => {
  const { clock, time, endTurn } = turningClock()
  const after = lateTimers(clock)
  const fired: string[] = []
  after(1_000, () => fired.push('kept'))
  const cancelTimer = after(1_000, () => fired.push('cancelled'))
  await time.advance(400)
  endTurn()
  cancelTimer()
  await time.advance(599)
  expect(fired).toEqual([])
  await time.advance(1)
  expect(fired).toEqual(['kept'])
  await time.advance(10_000)
  expect(fired).toEqual(['kept'])
})

test('without turns a timer starts at once', () => {
  const time = fakeClock()
  lateTimers(time)(1_000, () => {})
  expect(time.pending).toBe(1)
})
