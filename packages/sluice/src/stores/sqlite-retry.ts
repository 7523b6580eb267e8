/**
 * Waits for another process's lock without blocking this process. SQLite's busy timeout sleeps on the calling thread,
 * so a lock held for a second would stop all calls and health checks of this process.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy, toUnavailable } from './sqlite-file.ts'

/** Runs work that may find a lock, and repeats it until it does not. Rejects with `storeUnavailable` after a second. */
export type RetryWhileBusy = <T>(work: () => T | Promise<T>) => Promise<T>

/** Counted in pauses, so that a tool that blocks the event loop does not use up the time of waiting calls. */
const maxWaitMs = 1000
const pausesMs = [1, 2, 5, 10, 15, 20, 25]

/**
 * Creates a retry for one lock. While the lock is held, only one attempt is made at a time, however many calls wait.
 */
export function createRetry(): RetryWhileBusy {
  let pause: Promise<unknown> | undefined
  let attempts = 0
  return async (work) => {
    for (let waited = 0; ; ) {
      const ms = pausesMs[Math.min(attempts, pausesMs.length - 1)] ?? 0
      if (!pause) {
        try {
          const done = await work()
          attempts = 0
          return done
        } catch (thrown) {
          if (!isBusy(thrown) || waited >= maxWaitMs) throw toUnavailable(thrown)
        }
        attempts++
        // In real time, because the lock is another process's.
        pause = sleep(ms).then(() => {
          pause = undefined
        })
      }
      waited += ms
      await pause
    }
  }
}
