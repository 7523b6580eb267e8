/** A deadline over everything below. The work's signal aborts and the caller is answered, even if the work never ends. */

import type { Answer } from '../core/answer.ts'
import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'

/** Streams (`timeoutMs: Infinity`) end in other ways. */
export const timeout = (clock: Clock): Layer => {
  const begin = starter(clock)
  return (next) =>
    function timeout(call) {
      const ms = call.target.policy.timeoutMs
      if (ms === Number.POSITIVE_INFINITY) return next(call)
      return new Promise<Answer>((resolve, reject) => {
        const deadline: Deadline = {
          at: clock.now() + ms,
          over: () => call.stop.stop(new RpcError('timeout', `No answer within ${ms} ms`)),
          callOff: undefined,
          settled: false,
        }
        // Work that ignores its signal must not keep the layers outside waiting: cancelled calls leave here too.
        const forget = call.stop.onStop((reason) => {
          settle(deadline)
          reject(reason)
        })
        begin(deadline)
        next(call).then(
          (answer) => {
            settle(deadline)
            forget()
            resolve(answer)
          },
          (thrown) => {
            settle(deadline)
            forget()
            reject(thrown)
          },
        )
      })
    }
}

interface Deadline {
  readonly at: number
  readonly over: () => void
  callOff: (() => void) | undefined
  settled: boolean
}

function settle(deadline: Deadline): void {
  deadline.settled = true
  deadline.callOff?.()
}

/**
 * A timer costs as much as a small call. Where the clock knows when a turn is over, one is made only for calls that
 * outlive the turn they came in; most do not.
 */
function starter(clock: Clock): (deadline: Deadline) => void {
  const arm = (deadline: Deadline): void => {
    deadline.callOff = clock.after(Math.max(0, deadline.at - clock.now()), deadline.over)
  }
  if (!clock.turn) return arm
  let waiting: Deadline[] = []
  const endOfTurn = (): void => {
    const due = waiting
    waiting = []
    for (const deadline of due) if (!deadline.settled) arm(deadline)
  }
  return (deadline) => {
    if (waiting.push(deadline) === 1) clock.turn?.(endOfTurn)
  }
}
