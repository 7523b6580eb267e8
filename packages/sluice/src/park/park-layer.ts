/**
 * The layer that parks calls. It stands outside `elicitation`, `approvals`, `audit` and `idempotency`: what they hold for
 * a call stays held while it is parked. Each later request passes all layers outside again, and goes on with the call.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { continueCall } from './continue-call.ts'
import type { ParkDeps } from './deps.ts'
import { ParkableCall } from './parkable-call.ts'
import { hasKey, parkedUnderKey } from './parked-key.ts'
import { isContinued, readState } from './state.ts'

export const parkLayer =
  (deps: ParkDeps): Layer =>
  (next) => {
    // A client that declared tasks gets a task instead.
    return (call) => (call.target.asksWhileRunning && !call.task ? parkable(call) : next(call))

    // Most calls are neither continued nor under a key, so they begin without an extra promise.
    function parkable(call: Call): Promise<Answer> {
      if (isContinued(call)) return readState(call, deps.seal).then((id) => continueCall(deps, call, id))
      return hasKey(call) ? beginUnderKey(call) : new ParkableCall(deps, call).run(next)
    }
    async function beginUnderKey(call: Call): Promise<Answer> {
      const repeated = await parkedUnderKey(deps, call)
      return repeated ? continueCall(deps, call, repeated.id) : new ParkableCall(deps, call).run(next)
    }
  }
