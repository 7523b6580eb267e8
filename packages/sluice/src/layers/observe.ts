/**
 * One event per message, whatever happened to it: outermost, so that refusals are seen too. What is told of it, and where,
 * is the sinks' business; the layer only says how it ended.
 */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Reason } from '../core/error.ts'
import { RpcError } from '../core/error.ts'
import type { CallOutcome, EndedCall, Observer } from '../core/observer.ts'

/** `reference` makes the name a client and the log share for one failure. Without sinks nothing is measured or made. */
export const observe =
  (sinks: readonly Observer[], clock: Clock, reference: () => string, arrived?: (call: Call) => void): Layer =>
  (next) => {
    const tell = combineObservers(sinks)
    return async function observe(call) {
      arrived?.(call)
      const receivedAt = tell ? clock.now() : 0
      try {
        const answer = await next(call)
        const outcome = call.facts['approval'] === 'required' ? 'approval_required' : outcomeOf(answer)
        call.facts.outcome = outcome
        if (answer instanceof Prepared) call.facts['count'] = answer.count
        const failed = outcome === 'toolError'
        tell?.({ call, outcome, failed, receivedAt, durationMs: clock.now() - receivedAt, thrown: undefined })
        return answer
      } catch (thrown) {
        const outcome = outcomeOfThrown(thrown)
        call.facts.outcome = outcome
        call.facts.reference ??= reference()
        tell?.({ call, outcome, failed: true, receivedAt, durationMs: clock.now() - receivedAt, thrown })
        throw thrown
      }
    }
  }

/** A tool's own `resultType` is not passed on: as a metric label it would be any text. */
function outcomeOf(answer: Answer): CallOutcome {
  if (answer instanceof Prepared) return 'complete'
  if (answer.isError) return 'toolError'
  return answer.resultType === 'input_required' ? 'input_required' : 'complete'
}

export const outcomeOfThrown = (thrown: unknown): Reason =>
  thrown instanceof RpcError ? thrown.reason : 'internalError'

export function combineObservers(sinks: readonly Observer[]): ((event: EndedCall) => void) | undefined {
  if (sinks.length === 0) return undefined
  return function tell(event) {
    for (const sink of sinks)
      try {
        sink(event)
      } catch {
        // A full disk under a log must not take an answer with it, nor the other sinks.
      }
  }
}
