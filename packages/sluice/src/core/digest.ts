/** One number for a JSON value: what approvals, idempotency keys and sealed state are bound to. */

import canonicalize from 'canonicalize'
import type { Json } from './json.ts'
import { sha256 } from './sha256.ts'

/**
 * SHA-256 over RFC 8785. Numbers beyond 2^53 and repeated names would collide; framing refused both before this.
 * A value that is no JSON (`undefined`, a cycle) throws: better no digest than one that two values share.
 */
export function digest(value: Json | unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Only JSON values have a digest')
  return sha256(text)
}
