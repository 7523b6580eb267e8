/**
 * An issuer's public keys from its JWKS address. Tokens name the key they want, so whoever sends tokens decides how
 * often we are tempted to fetch: hence one fetch at a time, a cooldown whatever the outcome, and limits on what comes
 * back. Keys once fetched serve on while the issuer is slow, down or answers nonsense.
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
import { isWeakKey } from './weak-key.ts'
import { withTimeout } from './with-timeout.ts'

/** As much of `fetch` as is used here, so that a test needs no more. */
export type Fetch = (
  url: string,
  init: {
    readonly signal: AbortSignal
    readonly redirect: 'manual'
    readonly headers: { readonly [name: string]: string }
  },
) => Promise<{ readonly status: number; readonly body: Body | null }>
interface Body {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> }
}

export interface JwksDeps {
  readonly clock: Clock
  readonly fetch: Fetch
  readonly logger: Logger
}
export type FindKey = (...header: Parameters<LocalJWKSet>) => ReturnType<LocalJWKSet>

/** How long keys count as new. A key the issuer withdrew is believed no longer than this, while the issuer answers. */
const freshMs = 10 * 60_000
/** And this while it does not: keeping the issuer away must not keep a stolen key alive for ever. */
const staleMs = 24 * 60 * 60_000
/** Between two fetches: tokens with invented key ids must not become requests to the issuer. */
const cooldownMs = 30_000
/** The same while there are no keys at all, and every call is refused: an issuer that starts after us is found soon. */
const emptyCooldownMs = 5_000
const timeoutMs = 5_000
const maxBytes = 512 * 1024
const maxKeys = 100

export function createJwks(url: string, { clock, fetch, logger }: JwksDeps): FindKey {
  if (!isSafeUrl(url)) throw new TypeError(`jwks: ${url} must be https; plain http is for loopback addresses only`)
  let known: { readonly find: FindKey; readonly at: number } | undefined
  let tried = Number.NEGATIVE_INFINITY
  let pending: Promise<void> | undefined

  const age = (): number => monotonicNow(clock) - (known?.at ?? Number.NEGATIVE_INFINITY)

  async function load(): Promise<void> {
    const controller = new AbortController()
    try {
      known = { find: await withTimeout(read(controller.signal), timeoutMs, clock), at: monotonicNow(clock) }
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : 'unreadable'
      logger.warn({ event: 'jwks', outcome: 'failed', url, message, serving: known ? 'known keys' : 'nobody' })
    } finally {
      // Whatever is still being sent is not read any more.
      controller.abort()
      pending = undefined
    }
  }
  async function read(signal: AbortSignal): Promise<FindKey> {
    // A redirect is not followed: the address was configured, its target was not.
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const response = await fetch(url, { signal, redirect: 'manual', headers })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    const set: unknown = JSON.parse(await textOf(response.body))
    if (!isKeySet(set)) throw new Error('not a key set')
    if (set.keys.length > maxKeys) throw new Error(`more than ${maxKeys} keys`)
    return createLocalJWKSet({ keys: set.keys.filter((key) => !isWeakKey(key)) })
  }
  /** Resolves when there is nothing more to wait for, whatever came of it. */
  function refresh(): Promise<void> {
    const since = monotonicNow(clock) - tried
    if (pending && since < 2 * timeoutMs) return withTimeout(pending, timeoutMs, clock).catch(() => {})
    if (since < (known ? cooldownMs : emptyCooldownMs)) return Promise.resolve()
    tried = monotonicNow(clock)
    pending = load()
    return pending
  }

  return async function findKey(...header) {
    if (age() > staleMs) await refresh()
    // Nobody waits for keys that are merely old.
    // A refresh that fails has logged why, and the next token tries again.
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

async function textOf(body: Body | null): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || !value) break
    size += value.length
    // Counted as it comes: its declared length says nothing, least of all where it is compressed.
    if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    chunks.push(value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return decoder.decode(whole)
}
