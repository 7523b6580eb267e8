/** A clock that stands still until a test moves it. */

import type { Clock } from '../core/clock.ts'

/** A clock that stands still until it is told. */
export interface FakeClock extends Clock {
  /** Lets what is ready run, moves on, fires what is due in order, and lets that run too. */
  advance(ms: number): Promise<void>
  /** As if the event loop had been blocked: whatever was due by then fires at once, late, and nothing in between. */
  jump(ms: number): void
  /** As if somebody had set the machine's clock: `now` is another, and what waits goes on waiting. */
  set(now: number): void
  /** Timers not yet fired or called off. */
  readonly pending: number
}

/** Time that a test owns: `clock.advance(1_000)`. */
export function fakeClock(start = 0): FakeClock {
  let now = start
  /** What `now` is ahead of the steady time: timers follow that one. */
  let ahead = 0
  const timers = new Set<{ readonly at: number; readonly then: () => void }>()
  return {
    now: () => now + ahead,
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
      ahead = to - now
    },
    get pending() {
      return timers.size
    },
  }
}

/** Long enough for any chain of promises in a test; nothing here waits for real time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await null
}
