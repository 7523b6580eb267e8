/**
 * Reports calls whose question was never answered. Clients before 2026-07-28 are asked outside all layers, which saw the
 * call leave with `input_required`: a refusal, a page to visit first or a closed connection would not be seen otherwise.
 */

import type { Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { reasonOf } from '../core/error.ts'
import type { Observer } from '../core/observer.ts'
import { combineObservers } from './observe.ts'

export const observeElicitation =
  (observers: readonly Observer[], clock: Clock, newErrorId: () => string): Layer =>
  (next) => {
    const ended = combineObservers(observers)
    return async function observeElicitation(call) {
      const receivedAt = clock.now()
      try {
        return await next(call)
      } catch (thrown) {
        const { facts, stop } = call
        // Anything else the layers have told of themselves.
        if (facts.outcome !== 'input_required') throw thrown
        const why = stop.reason ?? thrown
        const outcome = reasonOf(why)
        facts.outcome = outcome
        facts.reference ??= newErrorId()
        ended?.({ call, outcome, failed: true, receivedAt, durationMs: clock.now() - receivedAt, thrown: why })
        throw why
      }
    }
  }
