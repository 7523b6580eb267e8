/**
 * An issuer's public keys from its JWKS URL. Tokens name the key they want, so their senders could trigger fetches at
 * will. Therefore there is one fetch at a time, a cooldown after every outcome, and limits on the response. Fetched
 * keys stay in use while the issuer is slow, down or returns invalid data.
 */

import { JWKSNoMatchingKey } from 'jose/errors'
import type { LocalJWKSet } from 'jose/jwks/local'
import { createLocalJWKSet } from 'jose/jwks/local'
import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { isSafeUrl } from '../../core/loopback.ts'
import { withTimeout } from '../../core/with-timeout.ts'
import type { Fetch } from './fetch-json.ts'
import { fetchJson } from './fetch-json.ts'
import { isWeakKey } from './weak-key.ts'

export interface JwksDeps {
  readonly clock: Clock
  readonly fetch: Fetch
  readonly logger: Logger
}
export type FindKey = (...header: Parameters<LocalJWKSet>) => ReturnType<LocalJWKSet>

/** How long keys count as fresh. After that they are fetched again, while calls go on with the known ones. */
const freshMs = 10 * 60_000
/**
 * After this long without a fetch the next token waits for one, so that a withdrawn key is accepted no longer while the
 * issuer responds. A server without calls fetches nothing, so its keys may be of yesterday.
 */
const idleMs = 2 * freshMs
/**
 * How long keys are used while the issuer does not respond. Otherwise blocking the issuer would keep a stolen key valid
 * for ever.
 */
const staleMs = 24 * 60 * 60_000
/** Time between two fetches, so that tokens with invented key ids do not become requests to the issuer. */
const cooldownMs = 30_000
/**
 * Time between two fetches while there are no keys and every call is refused, so that an issuer that starts later is
 * found soon.
 */
const emptyCooldownMs = 5_000
const timeoutMs = 5_000
const maxKeys = 100

/** Returns where the keys are. Called before each fetch, so that an issuer may move them. */
export type LocateKeys = (fetch: Fetch, signal: AbortSignal) => Promise<string>

/** Creates the key set of a URL, or of an issuer that is asked for it. `url` is in log lines and messages. */
export function createJwks(url: string, { clock, fetch, logger }: JwksDeps, locate?: LocateKeys): FindKey {
  if (!isSafeUrl(url)) throw new TypeError(`jwks: ${url} must be https; plain http is for loopback addresses only`)
  let known: { readonly find: FindKey; readonly at: number } | undefined
  let tried = Number.NEGATIVE_INFINITY
  let pending: Promise<void> | undefined
  /** Whether tokens wait for the running fetch, or for the next one. */
  let isAwaited = false

  const age = (): number => monotonicNow(clock) - (known?.at ?? Number.NEGATIVE_INFINITY)

  async function load(): Promise<void> {
    const controller = new AbortController()
    try {
      known = { find: await withTimeout(read(controller.signal), timeoutMs, clock), at: monotonicNow(clock) }
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : 'unreadable'
      logger.warn({ event: 'jwks', outcome: 'failed', url, message, serving: known ? 'known keys' : 'no keys' })
    } finally {
      // Ends a response that is still being sent.
      controller.abort()
      pending = undefined
      isAwaited = false
    }
  }
  async function read(signal: AbortSignal): Promise<FindKey> {
    const address = locate ? await locate(fetch, signal) : url
    const set = await fetchJson(address, 'application/jwk-set+json, application/json', fetch, signal)
    if (!isKeySet(set)) throw new Error('not a key set')
    if (set.keys.length > maxKeys) throw new Error(`more than ${maxKeys} keys`)
    return createLocalJWKSet({ keys: set.keys.filter((key) => !isWeakKey(key)) })
  }
  /** Settles when there is nothing more to wait for, with or without new keys. */
  function refresh(): Promise<void> {
    const since = monotonicNow(clock) - tried
    if (pending && since < 2 * timeoutMs) return withTimeout(pending, timeoutMs, clock).catch(() => {})
    if (since < (known ? cooldownMs : emptyCooldownMs)) return Promise.resolve()
    tried = monotonicNow(clock)
    pending = load()
    return pending
  }

  return async function findKey(...header) {
    if (monotonicNow(clock) - tried > idleMs) isAwaited = true
    if (age() > staleMs || isAwaited) await refresh()
    // No other call waits for keys that are merely old. A failed refresh has logged the reason, and the next token tries
    // again.
    else if (age() > freshMs) refresh().catch(() => {})
    if (!known || age() > staleMs)
      throw new RpcError('storeUnavailable', 'Tokens cannot be checked right now: try again later', {
        data: { retryAfterMs: emptyCooldownMs },
      })
    const { find } = known
    try {
      return await find(...header)
    } catch (thrown) {
      if (!(thrown instanceof JWKSNoMatchingKey)) throw thrown
      await refresh()
      if (known.find === find) throw thrown
      return known.find(...header)
    }
  }
}

const isKeySet = (value: unknown): value is { keys: Params[] } =>
  isObject(value) && Array.isArray(value['keys']) && value['keys'].every(isObject)
