/** Waits for somebody else, but not for ever: nothing outside the `timeout` layer ends a call that is stuck here. */

import type { Clock } from '../../core/clock.ts'

export function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = clock.after(ms, () => reject(new Error(`No answer within ${ms} ms`)))
    work.then(
      (value) => {
        callOff()
        resolve(value)
      },
      (thrown) => {
        callOff()
        reject(thrown)
      },
    )
  })
}
