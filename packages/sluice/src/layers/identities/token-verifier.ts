/**
 * Verifies a JWT: of one issuer, for this audience, within its time, and signed with a configured key. What a token's
 * header says about keys is never followed.
 *
 * https://www.rfc-editor.org/rfc/rfc8725 and https://www.rfc-editor.org/rfc/rfc9068
 */

import { decode } from 'jose/base64url'
import { JOSEError, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } from 'jose/errors'
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose/jwt/verify'
import { jwtVerify } from 'jose/jwt/verify'
import type { Caller } from '../../core/call.ts'
import { keepCallerToken } from '../../core/caller-token.ts'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { frame } from '../../core/frame.ts'
import type { Params } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { silentLogger } from '../../core/log.ts'
import type { Verifier } from './authenticate-credential.ts'
import type { Fetch } from './fetch-json.ts'
import type { Algorithm, DiscoveredKeys, KeySource } from './key-source.ts'
import { allowedAlgorithms, toFindKey } from './key-source.ts'
import { createTokenCache } from './token-cache.ts'

/** The tokens that are accepted: their issuer, audience and time. */
export interface TokenRules {
  /** Compared to the letter: an issuer with a slash at its end is a different one. */
  readonly issuer: string
  /**
   * This server's name at the issuer, usually its public URL. Without it, a token made for any other service of the
   * same issuer would open this one.
   */
  readonly audience: string | readonly string[]
  /**
   * Restricts the algorithms that the keys allow. A shared secret uses HS256 by default, and public keys never use HS*.
   */
  readonly algorithms?: readonly Algorithm[]
  /**
   * How long after its expiry a token is still accepted, at most 60. 0 by default, because clients renew ahead of time.
   */
  readonly clockToleranceSeconds?: number
  /**
   * The claim that names the caller, or a function of the verified claims. By default it is `sub`. With more than one
   * verifier it is the issuer and `sub`, because two issuers may both have an "alice".
   */
  readonly subject?: string | ((claims: Params) => string | undefined)
}

/** External dependencies: clock, network and log. Those of the runtime by default. */
export interface JwtDeps {
  readonly clock?: Clock
  readonly fetch?: Fetch
  /** Receives a line when an issuer's keys cannot be fetched. */
  readonly logger?: Logger
}

/** How long a verified token is cached. A key that the issuer withdrew is accepted for this long. */
const cacheMs = 60_000
/** Accepts fresh tokens of an issuer whose clock is a little ahead. A token that is early does not help an attacker. */
const maxAheadSeconds = 30
/** Maximum number of keys tried for a token that names none. Each costs a signature check, at no cost to the sender. */
const maxCandidates = 4
/** Other kinds of JWT (logout, DPoP proofs, …) are signed with the same keys and must not pass as access tokens. */
const accessTypes: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])

/**
 * Canonical base64url. jose accepts blanks, padding and stray bits, so one valid token would have many spellings, each
 * cached separately.
 */
const base64UrlPart = '(?:[\\w-]{4})*(?:[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048])?'
const isCompact = new RegExp(`^${base64UrlPart}\\.${base64UrlPart}\\.${base64UrlPart}$`)

/** Creates a verifier for the tokens of one issuer, signed with a key of `source`. */
export function createTokenVerifier(
  options: TokenRules,
  source: KeySource | DiscoveredKeys,
  deps: JwtDeps = {},
): Verifier {
  const { clock = systemClock, fetch = globalFetch, logger = silentLogger } = deps
  const { issuer, audience, clockToleranceSeconds = 0, subject = 'sub' } = options
  const audiences = [audience].flat()
  if (!issuer || audiences.length === 0 || audiences.includes(''))
    throw new TypeError('"issuer" and "audience" must not be empty')
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 60))
    throw new TypeError('"clockToleranceSeconds" must be 0 to 60, because more would keep stolen tokens valid')
  const algorithms = allowedAlgorithms(source, options.algorithms)
  const findKey = toFindKey(source, algorithms, { clock, fetch, logger })
  const cache = createTokenCache(cacheMs, clock)

  const keyFor: JWTVerifyGetKey = (header, token) => {
    // No extensions are supported, and an unknown one must not be ignored.
    if (header.crit !== undefined) throw new InvalidToken('crit')
    if (header.kid !== undefined && typeof header.kid !== 'string') throw new InvalidToken('kid')
    const { typ } = header
    if (!accessTypes.has(typeof typ === 'string' ? typ.toLowerCase() : typ)) throw new InvalidToken('typ')
    return findKey(header, token)
  }

  async function claimsOf(token: string): Promise<Params> {
    const expected: JWTVerifyOptions = {
      issuer,
      audience: audiences,
      algorithms: [...algorithms],
      currentDate: new Date(clock.now()),
      clockTolerance: Math.max(clockToleranceSeconds, maxAheadSeconds),
    }
    try {
      return (await jwtVerify(token, keyFor, expected)).payload
    } catch (thrown) {
      if (!(thrown instanceof JWKSMultipleMatchingKeys)) throw thrown
      let tried = 0
      for await (const key of thrown) {
        if (++tried > maxCandidates) break
        try {
          return (await jwtVerify(token, key, expected)).payload
        } catch (failed) {
          if (!(failed instanceof JWSSignatureVerificationFailed)) throw failed
        }
      }
      throw new InvalidToken('kid')
    }
  }

  function toCaller(claims: Params): Caller {
    const { exp, iat } = claims
    const expires = (Number(exp) + clockToleranceSeconds) * 1000
    if (!Number.isFinite(expires) || expires <= clock.now()) throw new InvalidToken('exp')
    if (typeof iat === 'number' && iat * 1000 > clock.now() + maxAheadSeconds * 1000) throw new InvalidToken('iat')
    // The token is bound to a key whose possession is not checked here. Accepting it as a bearer token would accept
    // stolen ones.
    if (claims['cnf'] !== undefined) throw new InvalidToken('cnf')
    const name = typeof subject === 'string' ? claims[subject] : subject(claims)
    if (typeof name !== 'string' || name === '') throw new InvalidToken('sub')
    return { subject: name, credential: `jwt ${issuer} ${clientOf(claims)}`, scopes: scopesOf(claims), claims, expires }
  }

  return {
    issuer: options.subject === undefined ? issuer : undefined,
    async verify(token, { facts }) {
      const cached = cache.get(token)
      if (cached) return cached
      if (!isCompact.test(token) || !isUnambiguous(token)) return undefined
      try {
        const caller = toCaller(await claimsOf(token))
        keepCallerToken(caller, token)
        cache.set(token, caller)
        return caller
      } catch (thrown) {
        // The keys are unavailable, which says nothing about the token. The client must not discard it.
        if (thrown instanceof RpcError) throw thrown
        facts['tokenRefused'] = reasonOf(thrown)
        return undefined
      }
    },
  }
}

/**
 * Refuses tokens that two parsers could read differently: a repeated claim, `__proto__`, or integers past 2^53, of
 * which two may become one.
 */
function isUnambiguous(token: string): boolean {
  try {
    for (const text of token.split('.', 2)) frame(utf8.decode(decode(text)))
    return true
  } catch {
    return false
  }
}
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A problem with a token that jose would accept. The text is one of our names, never a part of the token. */
class InvalidToken extends Error {}

/** Returns the reason of a refusal, for the log. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof InvalidToken) return thrown.message
  if (thrown instanceof JOSEError) return 'claim' in thrown ? String(thrown.claim) : thrown.code
  return 'key'
}

const globalFetch: Fetch = (url, init) => fetch(url, init)

/**
 * Returns the client id, which is the same for every token of this client and person. Renewing a token does not change
 * the identity.
 */
const clientOf = ({ client_id, azp }: Params): string => String(client_id ?? azp ?? '')

/** Reads the scopes. `scope` is the standard text, `scp` and `scopes` are variants. The first one present counts. */
function scopesOf({ scope, scp, scopes }: Params): ReadonlySet<string> {
  const value = scope ?? scp ?? scopes
  const names: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''))
}
