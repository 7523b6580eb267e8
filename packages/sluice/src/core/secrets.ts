/**
 * The secret from which all keys are derived (`seal.ts`): its sources, and when a random one is not enough.
 *
 * To rotate it, put the new secret first. Keep the old one for as long as a client may send back state that was sealed
 * with it.
 */

import { lazy } from './lazy.ts'

/** One secret, or two while rotating: the first one seals, both open. */
export type Secret = string | readonly string[]

export interface SecretsOptions {
  /** Other processes use the store too. They must open what this process sealed, so it cannot make a random secret. */
  readonly shared: boolean
  /**
   * Each request may reach another isolate. Refused on first use only, because a server that seals nothing needs no
   * secret.
   */
  readonly edge: boolean
}

/** A shorter secret can be guessed offline by anyone who holds sealed state. */
const minLength = 16
const maxSecrets = 2
const advice = 'use the output of "openssl rand -base64 32"'

/**
 * Returns the secrets for `createSeal`. Without one, a random secret is made on first use, because workerd forbids it
 * at module scope.
 */
export function secretsOf(secret: Secret | undefined, { shared, edge }: SecretsOptions): () => readonly string[] {
  if (secret !== undefined) {
    const secrets = validSecrets(typeof secret === 'string' ? [secret] : secret)
    return () => secrets
  }
  const random = lazy(() => {
    if (shared || edge) throw new TypeError(`Every process or isolate needs the same "secret"; ${advice}`)
    return [crypto.randomUUID() + crypto.randomUUID()]
  })
  // Refused at once. On the edge, only a server that seals something needs one.
  if (shared) random()
  return random
}

/** Checks the secrets. An empty list is a mistake in the configuration, not a request for a random secret. */
function validSecrets(secrets: readonly string[]): readonly string[] {
  if (secrets.length === 0 || secrets.length > maxSecrets)
    throw new TypeError(`"secret" must be one, or ${maxSecrets} while rotating`)
  if (secrets.some((secret) => secret.length < minLength))
    throw new TypeError(`"secret" needs at least ${minLength} characters; ${advice}`)
  return secrets
}

/**
 * Reads `SLUICE_SECRET`, or the file named by `SLUICE_SECRET_FILE`, as containers mount them. Two values are separated
 * by a line break or a comma. `undefined` if neither variable is set. `read` returns the text of a file.
 */
export function readSecret(
  environment: { readonly [name: string]: string | undefined },
  read: (path: string) => string,
): readonly string[] | undefined {
  const { SLUICE_SECRET: inline, SLUICE_SECRET_FILE: file } = environment
  if (inline !== undefined && file !== undefined)
    throw new TypeError(
      'SLUICE_SECRET and SLUICE_SECRET_FILE are both set, and one would be ignored: unset one of them',
    )
  const text = file === undefined ? inline : read(file)
  if (text === undefined) return undefined
  const values = text.split(/[,\n]/).map((value) => value.trim())
  try {
    return validSecrets(values.filter((value) => value !== ''))
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : ''
    throw new TypeError(`${file === undefined ? 'SLUICE_SECRET' : `SLUICE_SECRET_FILE ${file}`}: ${problem}`)
  }
}

/** Returns whether this is workerd, which names itself in the user agent. */
export const isEdgeRuntime = (): boolean =>
  typeof navigator !== 'undefined' && navigator.userAgent === 'Cloudflare-Workers'
