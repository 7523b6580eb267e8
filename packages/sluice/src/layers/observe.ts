/**
 * Reports one event per message, whatever happened to it. It is the outermost layer, so that refusals are observed too.
 * The layer only reports the outcome; the observers decide what to record and where.
 */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Reason } from '../core/error.ts'
import { RpcError } from '../core/error.ts'
import type { CallOutcome, EndedCall, Observer } from '../core/observer.ts'

/**
 * Creates the layer. `reference` makes the error id that a client and the log share for one failure. Without observers
 * nothing is measured or made.
 */
export const observe =
  (observers: readonly Observer[], clock: Clock, reference: () => string, arrived?: (call: Call) => void): Layer =>
  (next) => {
    const notifyObservers = combineObservers(observers)
    return async function observe(call) {
      arrived?.(call)
      const receivedAt = notifyObservers ? clock.now() : 0
      try {
        const answer = await next(call)
        const outcome = call.facts['approval'] === 'required' ? 'approval_required' : outcomeOf(answer)
        call.facts.outcome = outcome
        if (answer instanceof Prepared) call.facts['count'] = answer.count
        const failed = outcome === 'toolError'
        notifyObservers?.({
          call,
          outcome,
          failed,
          receivedAt,
          durationMs: clock.now() - receivedAt,
          thrown: undefined,
        })
        return answer
      } catch (thrown) {
        const outcome = outcomeOfThrown(thrown)
        call.facts.outcome = outcome
        call.facts.reference ??= reference()
        notifyObservers?.({ call, outcome, failed: true, receivedAt, durationMs: clock.now() - receivedAt, thrown })
        throw thrown
      }
    }
  }

/**
 * Returns the outcome of an answer. A tool's own `resultType` is not used, because as a metric label it could be any
 * text.
 */
function outcomeOf(answer: Answer): CallOutcome {
  if (answer instanceof Prepared) return 'complete'
  if (answer.isError) return 'toolError'
  return answer.resultType === 'input_required' ? 'input_required' : 'complete'
}

export const outcomeOfThrown = (thrown: unknown): Reason =>
  thrown instanceof RpcError ? thrown.reason : 'internalError'

export function combineObservers(observers: readonly Observer[]): ((event: EndedCall) => void) | undefined {
  if (observers.length === 0) return undefined
  return function notifyObservers(event) {
    for (const observer of observers)
      try {
        observer(event)
      } catch {
        // A full disk under a log must break neither an answer nor the other observers.
      }
  }
}
