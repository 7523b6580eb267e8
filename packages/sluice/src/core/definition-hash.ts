/** The identity of a target's definition. Approvals, sealed state and audit records are bound to it. */

import { digest } from './digest.ts'
import type { Target } from './target.ts'

/** Computed on first use and cached, because most servers never need it and a definition does not change. */
const hashes = new WeakMap<Target, string>()

/** Hashes the list entry, the policy and the pin of a target. Methods of the protocol have no definition. */
export function definitionHash(target: Target): string {
  const found = hashes.get(target)
  if (found !== undefined) return found
  const { entry, policy, pin } = target
  const hash = entry ? digest(JSON.parse(JSON.stringify(pin ? [entry, policy, pin] : [entry, policy]))) : ''
  hashes.set(target, hash)
  return hash
}
