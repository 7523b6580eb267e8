/**
 * A deadline for all inner layers. The work's signal aborts and the caller is answered, even if the work never ends.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import { InFlight } from '../core/in-flight.ts'
import type { Stop } from '../core/stop.ts'
import { lateTimers } from '../core/turn.ts'

/** The calls that wait. On shutdown the process waits for them, or stops them. */
export type RunningCalls = InFlight<Stop>

/**
 * Work that continues after its caller was answered or disconnected. It holds no slot, but memory and whatever it works
 * on.
 */
export interface Stragglers {
  /** Number that still run. If it grows, some work ignores its signal. */
  running: number
  /** Number of answers that came too late to be sent, since the start. */
  late: number
}

/** The `_meta` key with which a client requests less time than the target has. */
const deadlineKey = 'dev.sluice/deadlineMs'

/**
 * Creates the layer. Streams (`timeoutMs: Infinity`) end in other ways. The layer updates `stragglers` and
 * `runningCalls` for its owner.
 */
export const timeoutLayer = (
  clock: Clock,
  stragglers: Stragglers = { running: 0, late: 0 },
  runningCalls: RunningCalls = new InFlight(),
): Layer => {
  // A timer costs as much as a small call, and most calls end within their turn.
  const after = lateTimers(clock)
  return (next) =>
    function timeout(call) {
      const targetMs = call.target.policy.timeoutMs
      if (targetMs === Number.POSITIVE_INFINITY) return next(call)
      if (call.stop.reason) throw call.stop.reason
      const ms = call.meta[deadlineKey] === undefined ? targetMs : Math.min(targetMs, deadlineOf(call))
      const answer = next(call)
      // An answer that is there needs no deadline.
      return answer instanceof Promise ? withDeadline(call.stop, answer, ms) : answer
    }

  function withDeadline(stop: Stop, answer: Promise<Answer>, ms: number): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      let abandoned = false
      const cancelTimer = after(ms, () => stop.stop(new RpcError('timeout', `No answer within ${ms} ms`)))
      const id = runningCalls.add(stop)
      const settle = (): void => {
        cancelTimer()
        runningCalls.delete(id)
      }
      // Work that ignores its signal must not keep the outer layers waiting, so cancelled calls end here too.
      const unlisten = stop.onStop((reason) => {
        abandoned = true
        stragglers.running++
        settle()
        reject(reason)
      })
      /** After this, resolving and rejecting have no effect on an abandoned call, so a late answer is dropped. */
      const end = (): void => {
        if (abandoned) stragglers.running--
        settle()
        unlisten()
      }
      answer.then(
        (settled) => {
          if (abandoned) stragglers.late++
          end()
          resolve(settled)
        },
        (thrown) => {
          end()
          reject(thrown)
        },
      )
    })
  }
}

/**
 * Returns the requested deadline. It is never more than the target's, so that a client cannot hold a slot longer than
 * allowed.
 */
function deadlineOf({ meta }: Call): number {
  const ms = meta[deadlineKey]
  if (typeof ms !== 'number' || !(ms > 0)) throw invalidParams(`_meta["${deadlineKey}"] must be a number above 0`)
  return ms
}
