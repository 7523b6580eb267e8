/**
 * A call that needs an approval does not run without one. Until approvals can be given here, that means it is refused:
 * when a check cannot run, the answer is no.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

export const refuseWithoutApprovals: Layer = (next) => {
  // Most calls need none, and pass without a promise of this layer's own.
  return (call) => (call.target.policy.approval === 'never' ? next(call) : decide(call))

  async function decide(call: Call): Promise<Answer> {
    const { target, ready } = call
    // Anything but exactly false, and a throw, means yes.
    const gated =
      target.policy.approval === 'always' || (await ready?.needsApproval?.(call).catch(() => true)) !== false
    if (!gated) return next(call)
    throw new RpcError('forbidden', `${target.name} needs an approval, and nobody can give one on this server`)
  }
}
