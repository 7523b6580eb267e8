/** A promise with a deadline, for waits that no outer layer ends. */

import type { Clock } from './clock.ts'

/** Rejects if `work` does not settle within `ms`. The work itself goes on. */
export function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.after(ms, () => reject(new Error(`No answer within ${ms} ms`)))
    work.then(
      (value) => {
        cancelTimer()
        resolve(value)
      },
      (thrown) => {
        cancelTimer()
        reject(thrown)
      },
    )
  })
}
