/** Storage of tokens between runs. Tokens leave this process sealed, so a stolen file or row opens nothing. */

import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { createSeal } from '../../core/seal.ts'

/** The stored record of one sign-in. */
export interface SavedSignIn {
  /** The authorization server that gave the tokens. They are never sent to another one. */
  readonly issuer: string
  readonly accessToken?: string
  readonly refreshToken?: string
  /** When the access token ends, in milliseconds since the epoch. */
  readonly expiresAt?: number
  readonly scope?: string
  /** The client that was registered with this authorization server. */
  readonly client?: Params
}

/** Keeps sign-ins. The key names the server and, in a gateway, the user. */
export interface TokenStore {
  load(key: string): Promise<SavedSignIn | undefined>
  /** Saves a sign-in, or forgets it. */
  save(key: string, saved: SavedSignIn | undefined): Promise<void>
  /** Runs one refresh of a key at a time, if processes share the tokens: many refresh tokens work only once. */
  exclusive?<Value>(key: string, work: () => Promise<Value>): Promise<Value>
}

/** Keeps sign-ins in memory. */
export function memoryTokens(): TokenStore {
  const kept = new Map<string, SavedSignIn>()
  return {
    load: (key) => Promise.resolve(kept.get(key)),
    save(key, saved) {
      if (saved) kept.set(key, saved)
      else kept.delete(key)
      return Promise.resolve()
    },
  }
}

/** Texts by key: a file, a database, a keychain. */
export interface TextStore {
  get(key: string): Promise<string | undefined>
  set(key: string, text: string): Promise<void>
  delete(key: string): Promise<void>
}

/** A refresh token may live for months; a sign-in that was not used for a year is forgotten. */
const keptMs = 365 * 24 * 60 * 60 * 1000

/** Keeps sign-ins sealed with `secret` (two while rotating: the first seals, both open). */
export function sealedTokens(
  texts: TextStore,
  secret: string | readonly string[],
  clock: Clock = systemClock,
): TokenStore {
  const secrets = typeof secret === 'string' ? [secret] : secret
  const seal = createSeal(() => secrets, 'client tokens', clock)
  return {
    async load(key) {
      const text = await texts.get(key)
      if (text === undefined) return undefined
      // Sealed with a secret that is no longer there, or changed by others: the user signs in again.
      const opened = await seal.open(text, [key]).catch(() => undefined)
      return isSavedSignIn(opened) ? opened : undefined
    },
    async save(key, saved) {
      if (saved) await texts.set(key, await seal.seal(saved, [key], keptMs))
      else await texts.delete(key)
    },
  }
}

const isSavedSignIn = (value: unknown): value is SavedSignIn => isObject(value) && typeof value['issuer'] === 'string'
