/** By the target's scopes. Unknown and forbidden leave by the same line, so that nobody can list what they may not see. */

import type { Call, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/** `refusal` words it as if the target were not there. */
export const authorize =
  (refusal: (call: Call) => RpcError): Layer =>
  (next) =>
    async function authorize(call) {
      const { kind, policy } = call.target
      const missing = policy.scopes.filter((scope) => !call.caller.scopes.has(scope))
      if (kind !== 'unknown' && missing.length === 0) return next(call)
      if (kind !== 'unknown' && policy.listed)
        throw new RpcError('insufficientScope', `This needs the scope ${missing.join(' ')}`, {
          data: { scopes: policy.scopes },
        })
      throw refusal(call)
    }
