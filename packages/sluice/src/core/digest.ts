/** One number for a JSON value: what approvals, idempotency keys and sealed state are bound to. */

import canonicalize from 'canonicalize'
import type { Json } from './json.ts'
import { sha256 } from './sha256.ts'

/**
 * RFC 8785: one text for all ways to write a value. A value that is no JSON (`undefined`, a cycle) throws: better no text
 * than one that two values share.
 */
export function canonicalJson(value: Json | unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Only JSON values have a canonical text')
  return text
}

/** SHA-256 over RFC 8785. Numbers beyond 2^53 and repeated names would collide; framing refused both before this. */
export const digest = (value: Json | unknown): string => sha256(canonicalJson(value))
