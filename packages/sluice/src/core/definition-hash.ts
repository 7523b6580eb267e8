/** Which definition a target is: what an approval, sealed state and an audit record are bound to. */

import { digest } from './digest.ts'
import type { Target } from './target.ts'

/** Found on first use and kept: most servers never ask, and a definition does not change. */
const hashes = new WeakMap<Target, string>()

/** Of its list entry and its policy; methods of the protocol have no definition. */
export function definitionHash(target: Target): string {
  const found = hashes.get(target)
  if (found !== undefined) return found
  const hash = target.entry ? digest(JSON.parse(JSON.stringify([target.entry, target.policy]))) : ''
  hashes.set(target, hash)
  return hash
}
