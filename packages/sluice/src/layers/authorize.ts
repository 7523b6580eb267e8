/**
 * Authorizes by the target's scopes and the tenant's tools. Unknown and forbidden targets get the same refusal, so that
 * no caller can list hidden ones.
 */

import type { Call, Caller, Layer, Tenant } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Target } from '../core/target.ts'

/** The parts of a call that decide whether it is authorized. */
interface AuthorizedCall {
  readonly target: Target
  readonly caller: Pick<Caller, 'scopes'>
  readonly tenant: Pick<Tenant, 'tools'>
}

/**
 * Returns what the caller may know of the target: everything, that it exists and which scopes it needs, or nothing.
 * Code that treats calls by target must check this first. Otherwise a caller could tell a forbidden target from a
 * missing one.
 */
export function visibility({ target, caller, tenant }: AuthorizedCall): 'allowed' | 'challenged' | 'hidden' {
  const { kind, name, policy } = target
  if (kind === 'unknown') return 'hidden'
  if (kind === 'tool' && typeof tenant.tools === 'object' && !tenant.tools.has(name)) return 'hidden'
  if (policy.scopes.every((scope) => caller.scopes.has(scope))) return 'allowed'
  return policy.listed ? 'challenged' : 'hidden'
}

/** Creates the layer. `refusal` words the refusal as if the target did not exist. */
export const authorizeLayer =
  (refusal: (call: Call) => RpcError): Layer =>
  (next) =>
    function authorize(call) {
      const known = visibility(call)
      if (known === 'allowed') return next(call)
      if (known === 'hidden') throw refusal(call)
      const { scopes } = call.target.policy
      throw new RpcError('insufficientScope', `This needs the scope ${scopes.join(' ')}`, { data: { scopes } })
    }
