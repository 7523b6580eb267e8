/**
 * API keys: created once, shown once, stored as SHA-256 hashes. They are random, so a plain hash cannot be searched.
 * They are looked up by that hash, so neither the timing nor the store reveals how much of a guess was right.
 */

import type { Bus } from '../../core/bus.ts'
import type { Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Key, Store } from '../../core/store.ts'
import { pagesOf } from '../../core/store.ts'
import { withTimeout } from '../../core/with-timeout.ts'
import { actingKeyOf } from './acting-key.ts'
import type { ApiKeyRecord, ApiKeyTerms } from './api-key-record.ts'
import { assertTerms, parseRecord } from './api-key-record.ts'
import type { Verifier } from './authenticate-credential.ts'
import { createTokenCache } from './token-cache.ts'

/** The terms of a new key: its subject, and what it opens. */
export type NewApiKey = Pick<ApiKeyTerms, 'subject'> & Partial<ApiKeyTerms>

/** The description of a key. */
export interface ApiKey extends ApiKeyRecord {
  /** The id for `revoke`. Not secret. */
  readonly id: string
}

/** Manages keys. For the command and the console, not for callers. */
export interface ApiKeyAdmin {
  /** Creates a key. `secret` is the key itself and is shown only here. */
  create(terms: NewApiKey): Promise<{ readonly secret: string; readonly key: ApiKey }>
  /** Lists keys in arbitrary order. `after` is the last id of the previous page. */
  list(page?: { readonly limit?: number; readonly after?: string }): Promise<readonly ApiKey[]>
  /** Returns a key, including a revoked one; `undefined` if it does not exist. */
  get(id: string): Promise<ApiKey | undefined>
  /**
   * Changes what a key opens: at once with a bus, otherwise everywhere within five seconds. Returns false if the key
   * does not exist or is revoked.
   */
  change(id: string, to: Pick<ApiKeyTerms, 'scopes'>): Promise<boolean>
  /**
   * Revokes a key: at once with a bus, otherwise everywhere within five seconds, and on streams within ten. Returns
   * false if the key does not exist. A revoked key stays in the list.
   */
  revoke(id: string): Promise<boolean>
}

/** API keys in a store. They are created, listed and revoked, and checked as a verifier of `authenticate`. */
export interface ApiKeys extends ApiKeyAdmin, Verifier {
  /** Returns the keys of one tenant only. Other tenants' keys, and keys for several tenants, are hidden. */
  forTenant(tenant: string): ApiKeyAdmin
}

export interface ApiKeysOptions {
  /** The prefix of every key, so that people and secret scanners recognize it. */
  readonly prefix?: string
  readonly clock?: Clock
  /**
   * Notifies other processes of a change at once. Without it they notice within five seconds, and streams within ten.
   */
  readonly bus?: Bus | undefined
}

/** How long a revoked key still works. It is the price of not reading the store on every call. */
const cacheMs = 5_000
const lastUseEveryMs = 60_000
/** A store that hangs must not hold callers, because no deadline applies to them here. */
const storeTimeoutMs = 5_000
const randomBytes = 24
const shownDigits = 8
const idDigits = 16
const pageSize = 100
/** A change conflicts at most with one last-use update per process. More conflicts than this mean a faulty store. */
const maxAttempts = 20

const root: Key = ['api-keys']
const channel = 'api-keys'

/** Creates API keys, hashed in the store. A revoked key is refused everywhere within five seconds. */
export function apiKeys(store: Store, { prefix = 'sk_', clock = systemClock, bus }: ApiKeysOptions = {}): ApiKeys {
  if (!/^[A-Za-z][\w-]*_$/.test(prefix))
    throw new TypeError('"prefix" must be a word that ends in an underscore, such as sk_')
  const cache = createTokenCache(cacheMs, clock)
  const listeners = new Set<(credential: string) => void>()
  /** Drops a key from the cache. It trusts any sender, because a false message only costs a read of the store. */
  const changed = (id: string): void => {
    cache.delete(credentialOf(id))
    for (const listener of [...listeners]) listener(credentialOf(id))
  }
  let listening = false
  /** Subscribes when the first key is cached. The owner of the bus closes it. */
  function listen(): void {
    if (!listening) bus?.subscribe(channel, changed)
    listening = true
  }
  const length = prefix.length + randomBytes * 2
  const isOurs = (token: string): boolean => token.length === length && token.startsWith(prefix)

  async function read(hash: string): Promise<string | undefined> {
    try {
      return await withTimeout(store.get([...root, hash]), storeTimeoutMs, clock)
    } catch (cause) {
      throw new RpcError('storeUnavailable', 'API keys cannot be checked right now: try again later', { cause })
    }
  }
  /**
   * Records the last use, for people who wonder whether a key is still needed. Lost races and an unavailable store do
   * not matter here.
   */
  async function recordUse(hash: string, text: string, record: ApiKeyRecord): Promise<void> {
    if (clock.now() - (record.lastUse ?? 0) < lastUseEveryMs) return
    const used = JSON.stringify({ ...record, lastUse: clock.now() })
    await withTimeout(store.swap([...root, hash], text, used), storeTimeoutMs, clock).catch(() => {})
  }

  function admin(isVisible: (record: ApiKeyTerms) => boolean, tenants?: readonly string[]): ApiKeyAdmin {
    /** Finds a key. Ids are prefixes of hashes, so the next entry in order is the match, if there is one. */
    async function find(id: string): Promise<{ hash: string; text: string; record: ApiKeyRecord } | undefined> {
      if (!isId(id)) return undefined
      const [entry] = await store.list(root, { limit: 1, after: [...root, id] })
      const hash = entry?.key.at(-1)
      const record = entry && parseRecord(entry.value)
      return entry && hash?.startsWith(id) && record && isVisible(record)
        ? { hash, text: entry.value, record }
        : undefined
    }
    /** Rewrites a record. Returns false if the key does not exist, or if `change` returns `undefined`. */
    async function rewrite(id: string, change: (record: ApiKeyRecord) => ApiKeyRecord | undefined): Promise<boolean> {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const entry = await find(id)
        const rewritten = entry && change(entry.record)
        if (!entry || !rewritten) return false
        if (await store.swap([...root, entry.hash], entry.text, JSON.stringify(rewritten))) {
          changed(id)
          await bus?.publish(channel, id).catch(() => {})
          return true
        }
      }
      throw new RpcError('storeUnavailable', 'The key could not be changed: try again')
    }
    return {
      async create({ subject, scopes = [], label = '', expires, ...requested }) {
        const terms = { subject, scopes, label, tenants: tenants ?? requested.tenants ?? [] }
        const now = clock.now()
        const secret = prefix + toHex(crypto.getRandomValues(new Uint8Array(randomBytes)))
        const shown = secret.slice(0, prefix.length + shownDigits)
        const record = { ...terms, prefix: shown, created: now, ...(expires !== undefined && { expires }) }
        assertTerms(record, now)
        const hash = await hashSecret(secret)
        if (!(await store.swap([...root, hash], undefined, JSON.stringify(record))))
          throw new Error('The same random key was made twice: the source of randomness is broken')
        return { secret, key: { id: hash.slice(0, idDigits), ...record } }
      },
      async list({ limit = pageSize, after } = {}) {
        const found: ApiKey[] = []
        // `g` sorts after every hex digit, so the entry with this id is skipped.
        const cursor = after === undefined ? undefined : [...root, `${after}g`]
        for await (const entries of pagesOf(store, root, pageSize, cursor)) {
          for (const { key, value } of entries) {
            const record = parseRecord(value)
            if (record && isVisible(record) && found.length < limit)
              found.push({ id: key.at(-1)?.slice(0, idDigits) ?? '', ...record })
          }
          if (found.length >= limit) break
        }
        return found
      },
      async get(id) {
        const entry = await find(id)
        return entry && { id, ...entry.record }
      },
      change: (id, { scopes }) =>
        rewrite(id, (record) => {
          if (record.revoked !== undefined) return undefined
          const changed = { ...record, scopes }
          assertTerms({ ...changed, expires: Number.MAX_SAFE_INTEGER }, clock.now())
          return changed
        }),
      revoke: (id) => rewrite(id, (record) => ({ ...record, revoked: record.revoked ?? clock.now() })),
    }
  }

  const all = admin(() => true)
  const isValid = ({ revoked, expires = Number.POSITIVE_INFINITY }: ApiKeyRecord): boolean =>
    revoked === undefined && expires > clock.now()

  return {
    ...all,
    forTenant: (tenant) => admin(({ tenants }) => tenants.length === 1 && tenants[0] === tenant, [tenant]),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async verify(token, { facts, via }) {
      const id = actingKeyOf(via)
      if (id !== undefined) {
        const key = await all.get(id)
        return key && isValid(key) ? toCaller(id, key) : undefined
      }
      listen()
      const cached = cache.get(token)
      if (cached) return cached
      if (!isOurs(token)) return undefined
      const hash = await hashSecret(token)
      const text = await read(hash)
      // An unknown key is parsed like a revoked one, so that the two cost the same.
      const record = parseRecord(text ?? decoy)
      if (text === undefined || !record || !isValid(record)) {
        facts['tokenRefused'] = 'key'
        return undefined
      }
      await recordUse(hash, text, record)
      const caller = toCaller(hash, record)
      cache.set(token, caller)
      return caller
    },
  }
}

const toCaller = (hash: string, { subject, scopes, tenants, label, expires }: ApiKeyRecord): Caller => ({
  subject,
  credential: credentialOf(hash.slice(0, idDigits)),
  scopes: new Set(scopes),
  claims: { sub: subject, tenants, label },
  expires: expires ?? Number.POSITIVE_INFINITY,
})

const decoy = /* @__PURE__ */ JSON.stringify({
  subject: 'nobody',
  scopes: [],
  tenants: [],
  label: '',
  prefix: 'sk_00000000',
  created: 0,
  revoked: 0,
} satisfies ApiKeyRecord)

const credentialOf = (id: string): string => `key ${id}`

const isId = (id: string): boolean => id.length === idDigits && /^[0-9a-f]+$/.test(id)

/** Hashes with WebCrypto, because our own SHA-256 does not hide timing. */
const hashSecret = async (secret: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))))

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
