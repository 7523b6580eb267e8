/**
 * Clients before 2026-07-28 are asked outside all layers, which saw such a call leave with `input_required`. That nothing
 * came of it (a refusal, a page to visit first, a connection that ended) would be told to nobody without this.
 */

import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Observer } from '../core/observer.ts'
import { combineObservers, outcomeOfThrown } from './observe.ts'

export const observeElicitation =
  (sinks: readonly Observer[], clock: Clock, reference: () => string): Layer =>
  (next) => {
    const tell = combineObservers(sinks)
    return async function observeElicitation(call) {
      const receivedAt = clock.now()
      try {
        return await next(call)
      } catch (thrown) {
        const { facts, stop } = call
        // Anything else the layers have told of themselves.
        if (facts.outcome !== 'input_required') throw thrown
        const why = stop.reason ?? thrown
        const outcome = outcomeOfThrown(why)
        facts.outcome = outcome
        facts.reference ??= reference()
        tell?.({ call, outcome, failed: true, receivedAt, durationMs: clock.now() - receivedAt, thrown: why })
        throw why
      }
    }
  }
