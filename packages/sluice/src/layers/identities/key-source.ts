/** The keys that verify a token's signature, in any of the configured forms, behind one function. */

import type { CryptoKey, JWK, JWSHeaderParameters } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { importSPKI, importX509 } from 'jose/key/import'
import { createDiscovery } from './discovery.ts'
import type { JwksDeps } from './jwks.ts'
import { createJwks } from './jwks.ts'
import { isWeakKey } from './weak-key.ts'

/** Exactly one of these. */
export type KeySource =
  /** The URL of the issuer's key set, which is followed through rotation. https, or http on loopback. */
  | { readonly jwks: string }
  /** Public keys as JWKs. */
  | { readonly keys: readonly JWK[] }
  /** A public key (SPKI) or a certificate in PEM. */
  | { readonly pem: string }
  /** Shared with the issuer. Anyone who can read this server's configuration can then impersonate the issuer. */
  | { readonly secret: string | Uint8Array }

/** The keys that the metadata of an issuer names. Only `oauth` makes it. */
export interface DiscoveredKeys {
  readonly discover: string
}

export type SharedAlgorithm = 'HS256' | 'HS384' | 'HS512'
export type PublicAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'
export type Algorithm = SharedAlgorithm | PublicAlgorithm

const publicAlgorithms: readonly Algorithm[] = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
]
const sharedAlgorithms: readonly Algorithm[] = ['HS256', 'HS384', 'HS512']

export type FindAnyKey = (...header: Parameters<ReturnType<typeof createJwks>>) => Promise<CryptoKey | Uint8Array>

export function toFindKey(
  source: KeySource | DiscoveredKeys,
  algorithms: readonly Algorithm[],
  deps: JwksDeps,
): FindAnyKey {
  if ('discover' in source) return createJwks(source.discover, deps, createDiscovery(source.discover))
  if ('jwks' in source) return createJwks(source.jwks, deps)
  if ('keys' in source) return fromKeys(source.keys)
  if ('pem' in source) return fromPem(source.pem)
  return fromSecret(source.secret, algorithms)
}

/**
 * Returns the allowed algorithms. Public keys are known to everyone. If one were taken for a shared secret, anyone
 * could sign. So the two kinds never mix, whatever is requested, and `none` is in neither.
 */
export function allowedAlgorithms(
  source: KeySource | DiscoveredKeys,
  requested: readonly Algorithm[] | undefined,
): readonly Algorithm[] {
  const kinds = ['jwks', 'keys', 'pem', 'secret', 'discover'].filter((kind) => kind in source)
  if (kinds.length !== 1) throw new TypeError('jwt: set exactly one of "jwks", "keys", "pem" and "secret"')
  const possible = 'secret' in source ? sharedAlgorithms : publicAlgorithms
  const algorithms = requested ?? ('secret' in source ? ['HS256'] : publicAlgorithms)
  const unsupported = algorithms.find((algorithm) => !possible.includes(algorithm))
  if (unsupported !== undefined || algorithms.length === 0)
    throw new TypeError(
      `"algorithms" for "${kinds[0]}" must be among ${possible.join(', ')}, not ${unsupported ?? 'nothing'}`,
    )
  return algorithms
}

function fromKeys(keys: readonly JWK[]): FindAnyKey {
  if (keys.some((key) => 'd' in key || 'k' in key || 'priv' in key))
    throw new TypeError('"keys" must hold public keys only, because a private key can sign tokens')
  if (keys.some((key) => isWeakKey({ ...key })))
    throw new TypeError('"keys" holds a weak key, for which anyone can sign: replace it')
  return createLocalJWKSet({ keys: [...keys] })
}

/** Imports the key under each algorithm that a token names. The type of the key decides which imports succeed. */
function fromPem(pem: string): FindAnyKey {
  const text = pem.trim()
  const read = text.startsWith('-----BEGIN CERTIFICATE-----') ? importX509 : importSPKI
  if (read === importSPKI && !text.startsWith('-----BEGIN PUBLIC KEY-----'))
    throw new TypeError('"pem" must begin with "BEGIN PUBLIC KEY" or "BEGIN CERTIFICATE"')
  const imported = new Map<string, Promise<CryptoKey>>()
  return ({ alg = '' }: JWSHeaderParameters = {}) => {
    const key = imported.get(alg) ?? read(text, alg)
    imported.set(alg, key)
    return key
  }
}

/** Requires a secret as long as the hash (RFC 7518). A shorter one can be found offline, from a single token. */
function fromSecret(secret: string | Uint8Array, algorithms: readonly Algorithm[]): FindAnyKey {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  const needed = Math.max(...algorithms.map((algorithm) => Number(algorithm.slice(2)) / 8))
  if (bytes.length < needed)
    throw new TypeError(`"secret" needs at least ${needed} bytes, for example the output of "openssl rand -base64 64"`)
  return async () => bytes
}
