/** The keys a token's signature is checked with: whichever form the operator has them in, one function finds them. */

import type { CryptoKey, JWK, JWSHeaderParameters } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { importSPKI, importX509 } from 'jose/key/import'
import type { JwksDeps } from './jwks.ts'
import { createJwks } from './jwks.ts'
import { isWeakKey } from './weak-key.ts'

/** Exactly one of these. */
export type KeySource =
  /** The issuer's key set by its address, followed through rotation. https, unless it is on loopback. */
  | { readonly jwks: string }
  /** Public keys as JWKs. */
  | { readonly keys: readonly JWK[] }
  /** A public key (SPKI) or a certificate in PEM. */
  | { readonly pem: string }
  /** Shared with the issuer, who can therefore be impersonated by whoever reads this server's configuration. */
  | { readonly secret: string | Uint8Array }

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

export function toFindKey(source: KeySource, algorithms: readonly Algorithm[], outside: JwksDeps): FindAnyKey {
  if ('jwks' in source) return createJwks(source.jwks, outside)
  if ('keys' in source) return fromKeys(source.keys)
  if ('pem' in source) return fromPem(source.pem)
  return fromSecret(source.secret, algorithms)
}

/**
 * Which algorithms may be used. A public key is known to everybody: were it ever taken for a shared secret, everybody
 * could sign. So the two kinds never meet, whatever is asked for, and `none` is of neither.
 */
export function allowedAlgorithms(source: KeySource, asked: readonly Algorithm[] | undefined): readonly Algorithm[] {
  const kinds = ['jwks', 'keys', 'pem', 'secret'].filter((kind) => kind in source)
  if (kinds.length !== 1) throw new TypeError('jwt: give exactly one of jwks, keys, pem and secret')
  const possible = 'secret' in source ? sharedAlgorithms : publicAlgorithms
  const algorithms = asked ?? ('secret' in source ? ['HS256'] : publicAlgorithms)
  const odd = algorithms.find((algorithm) => !possible.includes(algorithm))
  if (odd !== undefined || algorithms.length === 0)
    throw new TypeError(`algorithms: ${kinds[0]} goes with ${possible.join(', ')}, not with ${odd ?? 'nothing'}`)
  return algorithms
}

function fromKeys(keys: readonly JWK[]): FindAnyKey {
  if (keys.some((key) => 'd' in key || 'k' in key || 'priv' in key))
    throw new TypeError('keys: only public keys belong here; whoever holds a private one can sign tokens')
  if (keys.some((key) => isWeakKey({ ...key }))) throw new TypeError('keys: anybody can sign for one of these')
  return createLocalJWKSet({ keys: [...keys] })
}

/** Imported under each algorithm a token asks for: the key's own type decides which of them succeed. */
function fromPem(pem: string): FindAnyKey {
  const text = pem.trim()
  const read = text.startsWith('-----BEGIN CERTIFICATE-----') ? importX509 : importSPKI
  if (read === importSPKI && !text.startsWith('-----BEGIN PUBLIC KEY-----'))
    throw new TypeError('pem: expected "BEGIN PUBLIC KEY" or "BEGIN CERTIFICATE"')
  const imported = new Map<string, Promise<CryptoKey>>()
  return ({ alg = '' }: JWSHeaderParameters = {}) => {
    const key = imported.get(alg) ?? read(text, alg)
    imported.set(alg, key)
    return key
  }
}

/** RFC 7518: as long as the hash. A shorter one can be found offline, from any one token. */
function fromSecret(secret: string | Uint8Array, algorithms: readonly Algorithm[]): FindAnyKey {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  const needed = Math.max(...algorithms.map((algorithm) => Number(algorithm.slice(2)) / 8))
  if (bytes.length < needed)
    throw new TypeError(`secret: use at least ${needed} bytes, for instance the output of "openssl rand -base64 64"`)
  return async () => bytes
}
