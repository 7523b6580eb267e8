/** A deadline over everything below. The work's signal aborts and the caller is answered, even if the work never ends. */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Stop } from '../core/stop.ts'

/** The calls that outlived the turn they came in: what there is to wait for, or to stop, when the process ends. */
export type RunningCalls = Set<Stop>

/** What went on though its caller was answered or had gone. It holds no slot, but memory and whatever it works on. */
export interface Stragglers {
  /** Still at work, right now: if this grows, something ignores its signal. */
  running: number
  /** Answers that came too late for anybody to get, since the start. */
  late: number
}

/** By this a client asks for less time than the target has. */
const deadlineKey = 'dev.sluice/deadlineMs'

/** Streams (`timeoutMs: Infinity`) end in other ways. `stragglers` and `underway` are kept here, for whoever asks. */
export const timeoutLayer = (
  clock: Clock,
  stragglers: Stragglers = { running: 0, late: 0 },
  underway: RunningCalls = new Set(),
): Layer => {
  const begin = deadlineStarter(clock, underway)
  return (next) =>
    function timeout(call) {
      const own = call.target.policy.timeoutMs
      if (own === Number.POSITIVE_INFINITY) return next(call)
      if (call.stop.reason) return Promise.reject(call.stop.reason)
      return new Promise<Answer>((resolve, reject) => {
        const ms = call.meta[deadlineKey] === undefined ? own : Math.min(own, deadlineOf(call))
        let left = false
        const deadline: Deadline = {
          at: clock.now() + ms,
          expire: () => call.stop.stop(new RpcError('timeout', `No answer within ${ms} ms`)),
          stop: call.stop,
          cancelTimer: undefined,
          settled: false,
        }
        // Work that ignores its signal must not keep the layers outside waiting: cancelled calls leave here too.
        const forget = call.stop.onStop((reason) => {
          left = true
          stragglers.running++
          settle(deadline)
          reject(reason)
        })
        /** From here on resolving and rejecting do nothing for a call that was left: what is late reaches nobody. */
        const end = (): void => {
          if (left) stragglers.running--
          settle(deadline)
          forget()
        }
        const fail = (thrown: unknown): void => {
          end()
          reject(thrown)
        }
        begin(deadline)
        try {
          next(call).then((answer) => {
            if (left) stragglers.late++
            end()
            resolve(answer)
          }, fail)
        } catch (thrown) {
          fail(thrown)
        }
      })
    }
}

/** Never more than the target has: a client must not hold a slot for longer than its owner allows. */
function deadlineOf({ meta }: Call): number {
  const ms = meta[deadlineKey]
  if (typeof ms !== 'number' || !(ms > 0))
    throw invalidParams(`_meta["${deadlineKey}"] must be a number of more than 0`)
  return ms
}

interface Deadline {
  readonly at: number
  readonly expire: () => void
  readonly stop: Stop
  cancelTimer: (() => void) | undefined
  settled: boolean
}

function settle(deadline: Deadline): void {
  deadline.settled = true
  deadline.cancelTimer?.()
}

/**
 * A timer costs as much as a small call. Where the clock knows when a turn is over, one is made only for calls that
 * outlive the turn they came in; most do not.
 */
function deadlineStarter(clock: Clock, underway: RunningCalls): (deadline: Deadline) => void {
  const arm = (deadline: Deadline): void => {
    const callOff = clock.after(Math.max(0, deadline.at - clock.now()), deadline.expire)
    underway.add(deadline.stop)
    deadline.cancelTimer = () => {
      callOff()
      underway.delete(deadline.stop)
    }
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
