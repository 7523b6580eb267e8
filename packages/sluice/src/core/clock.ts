/** Time as an argument: whoever waits or compares takes a clock, so that tests own it. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from any beginning; goes on at the same pace when somebody sets the clock. */
  steady?(): number
  /** Calls `then` once after `ms`; the returned function calls it off. */
  after(ms: number, then: () => void): () => void
  /**
   * Calls `then` when what runs now, promises included, is over; where the runtime has such a moment that all calls may
   * share. What can wait until then need not be done at all for calls that are over by then.
   */
  turn?(then: () => void): void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}
