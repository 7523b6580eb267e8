/**
 * By the target's scopes and what the tenant has. Unknown and forbidden leave by the same line, so that nobody can list
 * what they may not see.
 */

import type { Call, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/**
 * What the caller may know of the target: all of it, that it is there and which scopes it wants, or nothing. Whoever
 * treats calls by their target asks this first, or a forbidden one can be told from one that is not there.
 */
export function visibility({ target, caller, tenant }: Call): 'allowed' | 'challenged' | 'hidden' {
  const { kind, name, policy } = target
  if (kind === 'unknown') return 'hidden'
  if (kind === 'tool' && typeof tenant.tools === 'object' && !tenant.tools.has(name)) return 'hidden'
  if (policy.scopes.every((scope) => caller.scopes.has(scope))) return 'allowed'
  return policy.listed ? 'challenged' : 'hidden'
}

/** `refusal` words it as if the target were not there. */
export const authorizeLayer =
  (refusal: (call: Call) => RpcError): Layer =>
  (next) =>
    function authorize(call) {
      const known = visibility(call)
      if (known === 'allowed') return next(call)
      if (known === 'hidden') return Promise.reject(refusal(call))
      const { scopes } = call.target.policy
      return Promise.reject(
        new RpcError('insufficientScope', `This needs the scope ${scopes.join(' ')}`, { data: { scopes } }),
      )
    }
