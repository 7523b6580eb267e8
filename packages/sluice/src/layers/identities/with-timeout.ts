/** Waits for a promise with a deadline, because no outer layer ends a call that is stuck here. */

import type { Clock } from '../../core/clock.ts'

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
