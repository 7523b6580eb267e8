/** A clock that stands still until a test moves it. */

import type { Clock } from '../core/clock.ts'

/** A clock that stands still until the test moves it. */
export interface FakeClock extends Clock {
  /** Runs pending promises, moves on, fires due timers in order, and runs pending promises again. */
  advance(ms: number): Promise<void>
  /** Simulates a blocked event loop: all timers due by then fire at once, late, and nothing runs in between. */
  jump(ms: number): void
  /** Simulates a change of the machine's clock: `now` changes, and timers keep waiting. */
  set(now: number): void
  /** Number of timers that have neither fired nor been cancelled. */
  readonly pending: number
}

/** Creates a clock that a test controls: `clock.advance(1_000)`. */
export function fakeClock(start = 0): FakeClock {
  let now = start
  /** Difference between `now` and the monotonic time, which timers follow. */
  let offset = 0
  const timers = new Set<{ readonly at: number; readonly then: () => void }>()
  return {
    now: () => now + offset,
    monotonic: () => now,
    after(ms, then) {
      const timer = { at: now + ms, then }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      await settle()
      const until = now + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers.delete(due)
        now = Math.max(now, due.at)
        due.then()
        await settle()
      }
      now = until
      await settle()
    },
    jump(ms) {
      now += ms
      const due = [...timers].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
      for (const timer of due) if (timers.delete(timer)) timer.then()
    },
    set(to) {
      offset = to - now
    },
    get pending() {
      return timers.size
    },
  }
}

/** Runs pending promises. It is long enough for any chain of promises in a test, and waits for no real time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await null
}
