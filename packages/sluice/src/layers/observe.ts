/**
 * Reports every message once, with how it ended. The layer is the outermost, so that refusals are seen too. Observers
 * decide what is written, and where.
 */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { reasonOf } from '../core/error.ts'
import type { CallOutcome, EndedCall, Observer } from '../core/observer.ts'

/** `newErrorId` makes the id that a client and the log share for one failure. Without observers nothing is measured. */
export const observeLayer =
  (observers: readonly Observer[], clock: Clock, newErrorId: () => string): Layer =>
  (next) => {
    const ended = combineObservers(observers)
    const arrivals = observers.flatMap(({ arrived }) => arrived ?? [])
    return function observe(call) {
      for (const arrived of arrivals) arrived(call)
      const receivedAt = ended ? clock.now() : 0
      let answer: ReturnType<typeof next>
      try {
        answer = next(call)
      } catch (thrown) {
        throw reportFailure(call, receivedAt, thrown)
      }
      if (!(answer instanceof Promise)) return reportAnswer(call, receivedAt, answer)
      return answer.then(
        (settled) => reportAnswer(call, receivedAt, settled),
        (thrown) => {
          throw reportFailure(call, receivedAt, thrown)
        },
      )
    }

    function reportAnswer(call: Call, receivedAt: number, answer: Answer): Answer {
      const outcome = call.facts['approval'] === 'required' ? 'approval_required' : outcomeOf(answer)
      call.facts.outcome = outcome
      if (answer instanceof Prepared) call.facts['count'] = answer.count
      const failed = outcome === 'toolError'
      ended?.({ call, outcome, answer, failed, receivedAt, durationMs: clock.now() - receivedAt, thrown: undefined })
      return answer
    }

    /** Returns what was thrown, for the caller to throw on. */
    function reportFailure(call: Call, receivedAt: number, thrown: unknown): unknown {
      const outcome = reasonOf(thrown)
      call.facts.outcome = outcome
      call.facts.reference ??= newErrorId()
      ended?.({ call, outcome, failed: true, receivedAt, durationMs: clock.now() - receivedAt, thrown })
      return thrown
    }
  }

/** A tool's own `resultType` is not passed on: as a metric label it would be any text. */
function outcomeOf(answer: Answer): CallOutcome {
  if (answer instanceof Prepared) return 'complete'
  if (answer.isError) return 'toolError'
  const { resultType } = answer
  return resultType === 'input_required' || resultType === 'task' ? resultType : 'complete'
}

/** `undefined` if no observer wants to know how calls end. */
export function combineObservers(observers: readonly Observer[]): ((event: EndedCall) => void) | undefined {
  const listeners = observers.flatMap(({ ended }) => ended ?? [])
  if (listeners.length === 0) return undefined
  return function notifyAll(event) {
    for (const listener of listeners)
      try {
        listener(event)
      } catch {
        // A full disk under a log must not cost the answer, nor the other observers.
      }
  }
}
