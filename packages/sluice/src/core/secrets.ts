/**
 * The one secret all keys are derived from (`seal.ts`): where it comes from, and when a random one will not do.
 *
 * Two while rotating: put the new one first and keep the old one for as long as anything sealed with it may come back.
 */

import { lazy } from './lazy.ts'

/** One, or two while rotating: the first seals, both open. */
export type Secret = string | readonly string[]

export interface SecretsOptions {
  /** The store is used by other processes: they must open what this one sealed, so it cannot make up a secret. */
  readonly shared: boolean
  /** Requests meet another isolate each time. Refused on first use and not before: a server that seals nothing needs none. */
  readonly edge: boolean
}

/** Shorter ones can be tried out offline by anybody who holds something sealed. */
const minLength = 16
const maxSecrets = 2
const advice = 'use the output of "openssl rand -base64 32"'

/** What `createSeal` takes. Without a secret a random one is made on first use: workerd forbids it at module scope. */
export function secretsOf(secret: Secret | undefined, { shared, edge }: SecretsOptions): () => readonly string[] {
  if (secret !== undefined) {
    const given = validSecrets(typeof secret === 'string' ? [secret] : secret)
    return () => given
  }
  if (shared) throw new TypeError(`secret: a shared store needs the same secret in every process; ${advice}`)
  return lazy(function random() {
    if (edge) throw new TypeError(`secret: on the edge each request may meet another isolate, so set one; ${advice}`)
    return [crypto.randomUUID() + crypto.randomUUID()]
  })
}

/** An empty list is a mistake in somebody's configuration, not a wish for a random secret. */
function validSecrets(given: readonly string[]): readonly string[] {
  if (given.length === 0 || given.length > maxSecrets)
    throw new TypeError(`secret: give one, or ${maxSecrets} while rotating`)
  if (given.some((secret) => secret.length < minLength))
    throw new TypeError(`secret: use at least ${minLength} characters; ${advice}`)
  return given
}

/**
 * `SLUICE_SECRET`, or `SLUICE_SECRET_FILE` with the path of a file, as containers mount them. Two values stand on two
 * lines or on both sides of a comma. Neither variable: nothing. `read` gives the text of a file.
 */
export function readSecret(
  environment: { readonly [name: string]: string | undefined },
  read: (path: string) => string,
): readonly string[] | undefined {
  const { SLUICE_SECRET: inline, SLUICE_SECRET_FILE: file } = environment
  if (inline !== undefined && file !== undefined)
    throw new TypeError('SLUICE_SECRET and SLUICE_SECRET_FILE are both set: one of them would be ignored')
  const text = file === undefined ? inline : read(file)
  if (text === undefined) return undefined
  const values = text.split(/[,\n]/).map((value) => value.trim())
  try {
    return validSecrets(values.filter((value) => value !== ''))
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : ''
    throw new TypeError(`${file === undefined ? 'SLUICE_SECRET' : `SLUICE_SECRET_FILE ${file}`}: ${why}`)
  }
}

/** workerd says who it is; nothing else of ours asks. */
export const isEdgeRuntime = (): boolean =>
  typeof navigator !== 'undefined' && navigator.userAgent === 'Cloudflare-Workers'
