/** Time as an argument: whoever waits or compares takes a clock, so that tests own it. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from any beginning; goes on at the same pace when somebody sets the clock. */
  monotonic?(): number
  /** Calls `then` once after `ms`; the returned function calls it off. */
  after(ms: number, then: () => void): () => void
  /**
   * Calls `then` when what runs now, promises included, is over; where the runtime has such a moment that all calls may
   * share. What can wait until then need not be done at all for calls that are over by then.
   */
  turn?(then: () => void): void
}

/** Milliseconds that only go forward: a clock that is set back must not stop what happens every few minutes. */
export const monotonicNow = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, then) {
    // A longer timer fires at once, in every runtime; so a long wait is several.
    let left = ms
    let timer: ReturnType<typeof setTimeout>
    function wait(): void {
      const part = Math.min(left, maxTimerMs)
      left -= part
      timer = setTimeout(left > 0 ? wait : then, part)
    }
    wait()
    return () => clearTimeout(timer)
  },
}
