/**
 * Observes questions to clients before 2026-07-28. They are asked outside all layers, which saw the call leave with
 * `input_required`. Without this layer, a failed question (a refusal, a page to visit first, a closed connection) would
 * not be observed.
 */

import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Observer } from '../core/observer.ts'
import { combineObservers, outcomeOfThrown } from './observe.ts'

export const observeElicitation =
  (observers: readonly Observer[], clock: Clock, reference: () => string): Layer =>
  (next) => {
    const notifyObservers = combineObservers(observers)
    return async function observeElicitation(call) {
      const receivedAt = clock.now()
      try {
        return await next(call)
      } catch (thrown) {
        const { facts, stop } = call
        // The layers have observed every other failure themselves.
        if (facts.outcome !== 'input_required') throw thrown
        const cause = stop.reason ?? thrown
        const outcome = outcomeOfThrown(cause)
        facts.outcome = outcome
        facts.reference ??= reference()
        notifyObservers?.({
          call,
          outcome,
          failed: true,
          receivedAt,
          durationMs: clock.now() - receivedAt,
          thrown: cause,
        })
        throw cause
      }
    }
  }
