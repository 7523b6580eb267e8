/** A deadline over everything below. The work's signal aborts and the caller is answered, even if the work never ends. */

import type { Answer } from '../core/answer.ts'
import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'

/** Streams (`timeoutMs: Infinity`) end in other ways. */
export const timeout =
  (clock: Clock): Layer =>
  (next) =>
    function timeout(call) {
      const ms = call.target.policy.timeoutMs
      if (ms === Number.POSITIVE_INFINITY) return next(call)
      return new Promise<Answer>((resolve, reject) => {
        const callOff = clock.after(ms, () => call.stop.stop(new RpcError('timeout', `No answer within ${ms} ms`)))
        // Work that ignores its signal must not keep the layers outside waiting: cancelled calls leave here too.
        const forget = call.stop.onStop((reason) => {
          callOff()
          reject(reason)
        })
        next(call).then(
          (answer) => {
            callOff()
            forget()
            resolve(answer)
          },
          (thrown) => {
            callOff()
            forget()
            reject(thrown)
          },
        )
      })
    }
