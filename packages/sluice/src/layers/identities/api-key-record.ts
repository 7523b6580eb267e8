/** What is kept of an API key: everything but the key. */

import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'

/** What whoever makes a key decides. */
export interface ApiKeyTerms {
  /** Who calls with it. */
  readonly subject: string
  readonly scopes: readonly string[]
  /** Whose data it opens; none where the server has no tenants. */
  readonly tenants: readonly string[]
  /** For people: "nightly build". */
  readonly label: string
  /** Milliseconds since the epoch; left out, it never expires. */
  readonly expires?: number
}

export interface ApiKeyRecord extends ApiKeyTerms {
  /** The first characters, for telling keys apart; too few to guess the rest from. */
  readonly prefix: string
  readonly created: number
  /** To the minute. */
  readonly lastUse?: number
  readonly revoked?: number
}

/** A record that cannot be read is no record: its key opens nothing. */
export function parseRecord(text: string): ApiKeyRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: Params): value is Params & ApiKeyRecord {
  const { subject, label, prefix, scopes, tenants, created, expires, lastUse, revoked } = value
  return (
    [subject, label, prefix].every((text) => typeof text === 'string') &&
    [scopes, tenants].every((list) => Array.isArray(list) && list.every((each) => typeof each === 'string')) &&
    typeof created === 'number' &&
    [expires, lastUse, revoked].every((time) => time === undefined || typeof time === 'number')
  )
}

/** Mistakes in what a key is made with would be found out when it does not work, or works too well. */
export function assertTerms({ subject, scopes, expires }: ApiKeyTerms, now: number): void {
  if (subject === '') throw new TypeError('subject: an API key needs one')
  if (scopes.some((scope) => scope === '' || /\s/.test(scope))) throw new TypeError('scopes: one word each')
  if (expires !== undefined && !(Number.isFinite(expires) && expires > now))
    throw new TypeError('expires: a time that is still to come, in milliseconds')
}
