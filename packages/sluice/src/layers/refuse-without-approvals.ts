/**
 * Refuses calls that need an approval on a server without approvals, because the answer is no if a check cannot run.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

export const refuseWithoutApprovals: Layer = (next) => {
  // Most calls need no approval, so they pass without an extra promise.
  return (call) => (call.target.policy.approval === 'never' ? next(call) : decide(call))

  async function decide(call: Call): Promise<Answer> {
    const { target, ready } = call
    // Any value but exactly false means yes, and so does a throw.
    const needsApproval =
      target.policy.approval === 'always' || (await ready?.needsApproval?.(call).catch(() => true)) !== false
    if (!needsApproval) return next(call)
    throw new RpcError('forbidden', `${target.name} needs an approval, and this server has no approvals`)
  }
}
