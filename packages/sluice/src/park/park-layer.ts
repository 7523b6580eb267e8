/**
 * The layer that parks calls. It stands outside `elicitation`, `approvals`, `audit` and `idempotency`: what they hold for
 * a call stays held while it is parked. Each later request passes all layers outside again, and goes on with the call.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { continueCall } from './continue-call.ts'
import type { ParkDeps } from './deps.ts'
import { createParkedCall } from './parked-call.ts'
import { parkedUnderKey } from './parked-key.ts'
import { readState } from './state.ts'

export const parkLayer =
  (deps: ParkDeps): Layer =>
  (next) => {
    // A client that declared tasks gets a task instead.
    return (call) => (call.target.asksWhileRunning && !call.task ? parkable(call) : next(call))

    async function parkable(call: Call): Promise<Answer> {
      const state = await readState(call, deps.seal)
      if (state) return continueCall(deps, call, state.id)
      const repeated = await parkedUnderKey(deps, call)
      if (repeated) return continueCall(deps, call, repeated.id)
      const parked = createParkedCall(deps, call)
      return parked.follow(start(parked.call))
    }
    function start(call: Call): Promise<Answer> {
      try {
        return next(call)
      } catch (thrown) {
        return Promise.reject(thrown)
      }
    }
  }
