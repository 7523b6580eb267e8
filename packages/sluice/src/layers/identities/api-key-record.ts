/** The stored record of an API key: everything but the key. */

import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'

/** The terms that the creator of a key decides. */
export interface ApiKeyTerms {
  /** The user or program that calls with it. */
  readonly subject: string
  readonly scopes: readonly string[]
  /** The tenants whose data it opens. Empty if the server has no tenants. */
  readonly tenants: readonly string[]
  /** A label for people, such as "nightly build". */
  readonly label: string
  /** Milliseconds since the epoch. By default the key never expires. */
  readonly expires?: number
}

export interface ApiKeyRecord extends ApiKeyTerms {
  /** The first characters, to tell keys apart. They are too few to guess the rest. */
  readonly prefix: string
  readonly created: number
  /** Precise to the minute. */
  readonly lastUse?: number
  readonly revoked?: number
}

/** Parses a record; `undefined` if it cannot be read. Its key then opens nothing. */
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

/** Throws on invalid terms. Otherwise they would be found only when the key does not work, or opens too much. */
export function assertTerms({ subject, scopes, expires }: ApiKeyTerms, now: number): void {
  if (subject === '') throw new TypeError('"subject" must not be empty')
  if (scopes.some((scope) => scope === '' || /\s/.test(scope))) throw new TypeError('"scopes" must be single words')
  if (expires !== undefined && !(Number.isFinite(expires) && expires > now))
    throw new TypeError('"expires" must be a future time in milliseconds')
}
