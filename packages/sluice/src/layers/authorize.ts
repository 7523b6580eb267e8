/** By the target's scopes. Unknown and forbidden leave by the same line, so that nobody can list what they may not see. */

import type { Call, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/** `refusal` words it as if the target were not there. */
export const authorize =
  (refusal: (call: Call) => RpcError): Layer =>
  (next) =>
    function authorize(call) {
      const { kind, policy } = call.target
      const may = policy.scopes.every((scope) => call.caller.scopes.has(scope))
      if (kind !== 'unknown' && may) return next(call)
      if (kind === 'unknown' || !policy.listed) return Promise.reject(refusal(call))
      const { scopes } = policy
      return Promise.reject(
        new RpcError('insufficientScope', `This needs the scope ${scopes.join(' ')}`, { data: { scopes } }),
      )
    }
