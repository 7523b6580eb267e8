/** One hash for a JSON value. Approvals, idempotency keys and sealed state are bound to it. */

import canonicalize from 'canonicalize'
import { sha256 } from './sha256.ts'

/**
 * Returns the RFC 8785 text, which is the same for all ways to write a value. Throws on a value that is not JSON
 * (`undefined`, a cycle), because otherwise two values could share a text.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('The value has no canonical text because it is not JSON')
  return text
}

/**
 * Returns SHA-256 over RFC 8785. Numbers beyond 2^53 and repeated names would collide, so framing refuses both earlier.
 */
export const digest = (value: unknown): string => sha256(canonicalJson(value))
