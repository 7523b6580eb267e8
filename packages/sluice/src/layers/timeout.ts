/** A deadline over everything below. The signal aborts and the caller is answered, even if the work never ends. */

import type { Answer } from '../core/answer.ts'
import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import { stopped } from '../core/stopped.ts'

/** Streams (`timeoutMs: Infinity`) end in other ways. */
export const timeout =
  (clock: Clock): Layer =>
  (next) =>
    function timeout(call) {
      const ms = call.target.policy.timeoutMs
      if (ms === Number.POSITIVE_INFINITY) return next(call)
      return new Promise<Answer>((resolve, reject) => {
        const { signal } = call
        // Work that ignores the signal must not keep the layers outside waiting: cancelled calls leave here too.
        const stop = (): void => {
          callOff()
          reject(stopped(signal))
        }
        const callOff = clock.after(ms, () => call.abort(new RpcError('timeout', `No answer within ${ms} ms`)))
        if (signal.aborted) return stop()
        signal.addEventListener('abort', stop, { once: true })
        next(call)
          .then(resolve, reject)
          .finally(() => {
            callOff()
            signal.removeEventListener('abort', stop)
          })
      })
    }
