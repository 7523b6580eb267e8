/** Time as an argument. Code that waits or compares times takes a clock, so that tests control it. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds since an arbitrary start. It keeps its pace when the system clock is set. */
  monotonic?(): number
  /** Calls `then` once after `ms`. The returned function cancels the timer. */
  after(ms: number, then: () => void): () => void
  /**
   * Calls `then` at the end of the current turn, after its promises. Absent if the runtime has no such moment that all
   * calls can share. Work that can wait until then need not be done at all for calls that have ended by then.
   */
  turn?(then: () => void): void
}

/**
 * Returns milliseconds that only increase. Otherwise a clock that is set back would stop what happens every few
 * minutes.
 */
export const monotonicNow = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, then) {
    // No function that calls itself here: with one per call, V8 keeps ended calls alive until a full collection.
    if (ms > maxTimerMs) return afterLong(ms, then)
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** Every runtime fires a longer timer at once, so a long wait is made of several timers. */
function afterLong(ms: number, then: () => void): () => void {
  let remainingMs = ms
  let timer: ReturnType<typeof setTimeout>
  function wait(): void {
    const stepMs = Math.min(remainingMs, maxTimerMs)
    remainingMs -= stepMs
    timer = setTimeout(remainingMs > 0 ? wait : then, stepMs)
  }
  wait()
  return () => clearTimeout(timer)
}
