/**
 * Vouches for the bearer of a JWT of one issuer, made for us, in time, and signed with a key we chose ourselves: what a
 * token's header says about keys is never followed.
 *
 * https://www.rfc-editor.org/rfc/rfc8725 and https://www.rfc-editor.org/rfc/rfc9068
 */

import { decode } from 'jose/base64url'
import { JOSEError, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } from 'jose/errors'
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose/jwt/verify'
import { jwtVerify } from 'jose/jwt/verify'
import type { Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { frame } from '../../core/frame.ts'
import type { Params } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { silentLogger } from '../../core/log.ts'
import type { Verifier } from './authenticate-credential.ts'
import type { Fetch } from './jwks.ts'
import type { Algorithm, KeySource } from './key-source.ts'
import { allowedAlgorithms, toFindKey } from './key-source.ts'
import { createTokenCache } from './token-cache.ts'

/** Whose tokens are taken, for whom they must be, and the keys that sign them. */
export type JwtOptions = KeySource & {
  /** Compared to the letter: an issuer with a slash at its end is another one. */
  readonly issuer: string
  /**
   * This server, as the issuer knows it: its public address where tokens are asked for by resource. Without it a token
   * made for any other service of the same issuer would open this one.
   */
  readonly audience: string | readonly string[]
  /** Fewer than the keys allow. A shared secret goes with HS256 unless said, and public keys never with HS*. */
  readonly algorithms?: readonly Algorithm[]
  /** How long past its expiry a token is still taken, at most 60. None, since clients renew ahead of time. */
  readonly clockToleranceSeconds?: number
  /**
   * The claim that names the caller, or a function of the verified claims. By default it is `sub`, and where there is more
   * than one verifier the issuer and `sub`: two issuers may both have an "alice".
   */
  readonly subject?: string | ((claims: Params) => string | undefined)
}

/** What reaches outside: clock, network and log; those of the runtime unless given. */
export interface JwtDeps {
  readonly clock?: Clock
  readonly fetch?: Fetch
  /** Hears when an issuer's keys cannot be fetched. */
  readonly logger?: Logger
}

/** How long a token is believed without looking again: a key the issuer withdrew is honoured for this long. */
const cacheMs = 60_000
/** An issuer whose clock is a little ahead must not have its fresh tokens refused; being early helps no attacker. */
const maxAheadSeconds = 30
/** Keys tried for a token that names none: each costs a signature check, and the sender pays nothing. */
const maxCandidates = 4
/** Other kinds of JWT (logout, DPoP proofs, …) are signed with the same keys and must not pass for access tokens. */
const accessTypes: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt'])

/**
 * Base64url as it is written, to the last bit: jose reads over blanks, padding and stray bits, and every such spelling
 * of one good token would count as another.
 */
const base64UrlPart = '(?:[\\w-]{4})*(?:[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048])?'
const isCompact = new RegExp(`^${base64UrlPart}\\.${base64UrlPart}\\.${base64UrlPart}$`)

/** Takes the tokens of one issuer, as a verifier of `authenticate`. */
export function jwt(options: JwtOptions, outside: JwtDeps = {}): Verifier {
  const { clock = systemClock, fetch = globalFetch, logger = silentLogger } = outside
  const { issuer, audience, clockToleranceSeconds = 0, subject = 'sub' } = options
  const audiences = [audience].flat()
  if (!issuer || audiences.length === 0 || audiences.includes(''))
    throw new TypeError('jwt: issuer and audience are needed')
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 60))
    throw new TypeError('clockToleranceSeconds: 0 to 60; more than that keeps stolen tokens alive')
  const algorithms = allowedAlgorithms(options, options.algorithms)
  const findKey = toFindKey(options, algorithms, { clock, fetch, logger })
  const known = createTokenCache(cacheMs, clock)

  const keyFor: JWTVerifyGetKey = (header, token) => {
    // We know no extensions, and one we do not know must not be passed over.
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
    // Bound to a key its holder must prove to have, which is not checked here: as a bearer token it would be stolen goods.
    if (claims['cnf'] !== undefined) throw new InvalidToken('cnf')
    const name = typeof subject === 'string' ? claims[subject] : subject(claims)
    if (typeof name !== 'string' || name === '') throw new InvalidToken('sub')
    return { subject: name, credential: `jwt ${issuer} ${clientOf(claims)}`, scopes: scopesOf(claims), claims, expires }
  }

  return {
    issuer: options.subject === undefined ? issuer : undefined,
    async verify(token, { facts }) {
      const before = known.get(token)
      if (before) return before
      if (!isCompact.test(token) || !isUnambiguous(token)) return undefined
      try {
        const caller = toCaller(await claimsOf(token))
        known.set(token, caller)
        return caller
      } catch (thrown) {
        // The keys are away: that says nothing about the token, and a client must not throw it away for it.
        if (thrown instanceof RpcError) throw thrown
        facts['tokenRefused'] = reasonOf(thrown)
        return undefined
      }
    },
  }
}

/**
 * What two readers could read differently is refused before anybody reads it: a claim that comes twice, `__proto__`,
 * integers past 2^53, of which two may become one.
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

/** What is wrong with a token that jose itself would take. The text is a name of ours, never a part of the token. */
class InvalidToken extends Error {}

/** For the log. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof InvalidToken) return thrown.message
  if (thrown instanceof JOSEError) return 'claim' in thrown ? String(thrown.claim) : thrown.code
  return 'key'
}

const globalFetch: Fetch = (url, init) => fetch(url, init)

/** The same for every token this client gets for this person, so that renewing one is not changing who is there. */
const clientOf = ({ client_id, azp }: Params): string => String(client_id ?? azp ?? '')

/** `scope` is a text, `scp` and `scopes` are what others made of it. The first that is there counts. */
function scopesOf({ scope, scp, scopes }: Params): ReadonlySet<string> {
  const given = scope ?? scp ?? scopes
  const names: readonly unknown[] = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : []
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''))
}
