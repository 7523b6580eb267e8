/**
 * API keys: made once, shown once, kept as SHA-256 hashes. They are random, so a plain hash cannot be searched, and they
 * are looked up by that hash, so neither the time nor the store tells how much of a guess was right.
 */

import type { Bus } from '../../core/bus.ts'
import type { Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Key, Store } from '../../core/store.ts'
import type { ApiKeyRecord, ApiKeyTerms } from './api-key-record.ts'
import { assertTerms, parseRecord } from './api-key-record.ts'
import type { Verifier } from './authenticate-credential.ts'
import { createTokenCache } from './token-cache.ts'
import { withTimeout } from './with-timeout.ts'

/** The terms of a key to be made: whose it is, and what it opens. */
export type NewApiKey = Pick<ApiKeyTerms, 'subject'> & Partial<ApiKeyTerms>

/** What is told about a key. */
export interface ApiKey extends ApiKeyRecord {
  /** What `revoke` takes. Not secret. */
  readonly id: string
}

/** For whoever manages keys; the command and the console, not callers. */
export interface ApiKeyAdmin {
  /** `secret` is the key itself, and this is the only time anybody sees it. */
  create(terms: NewApiKey): Promise<{ readonly secret: string; readonly key: ApiKey }>
  /** In no order that means anything; `after` is the last page's last id. */
  list(page?: { readonly limit?: number; readonly after?: string }): Promise<readonly ApiKey[]>
  /** Revoked ones too; `undefined` if there is no such key. */
  get(id: string): Promise<ApiKey | undefined>
  /** What it opens from now on: at once where there is a bus, else everywhere within five seconds. False if there is no such key, or it was revoked. */
  change(id: string, to: Pick<ApiKeyTerms, 'scopes'>): Promise<boolean>
  /** Takes effect at once where there is a bus, else everywhere within five seconds, on streams within ten. False if there is no such key; a revoked one stays in the list. */
  revoke(id: string): Promise<boolean>
}

/** API keys on a store: made, listed and revoked, and checked as a verifier of `authenticate`. */
export interface ApiKeys extends ApiKeyAdmin, Verifier {
  /** The keys of one tenant alone: the others', and those that open several tenants, are as if they were not there. */
  forTenant(tenant: string): ApiKeyAdmin
}

export interface ApiKeysOptions {
  /** What every key begins with, so that people and secret scanners know one when they see it. */
  readonly prefix?: string
  readonly clock?: Clock
  /** Tells the other processes of a change at once. Left out, they find it within five seconds, streams within ten. */
  readonly bus?: Bus | undefined
}

/** How long a revoked key still opens: the price of not asking the store on every call. */
const cacheMs = 5_000
const lastUseEveryMs = 60_000
/** A store that hangs must not hold callers: they are outside every deadline here. */
const storeTimeoutMs = 5_000
const randomBytes = 24
const shownDigits = 8
const idDigits = 16
const pageSize = 100
/** A change meets at most a note of last use per process; losing more often than this is a store that lies. */
const maxAttempts = 20

const root: Key = ['api-keys']
const channel = 'api-keys'

/** API keys, hashed in the store; a revoked one is refused everywhere within five seconds. */
export function apiKeys(store: Store, { prefix = 'sk_', clock = systemClock, bus }: ApiKeysOptions = {}): ApiKeys {
  if (!/^[A-Za-z][\w-]*_$/.test(prefix)) throw new TypeError('prefix: a word that ends in an underscore, such as sk_')
  const known = createTokenCache(cacheMs, clock)
  const hearers = new Set<(credential: string) => void>()
  /** Whoever says so: the worst that comes of it is that the store is asked. */
  const changed = (id: string): void => {
    known.delete(credentialOf(id))
    for (const hear of [...hearers]) hear(credentialOf(id))
  }
  let listening = false
  /** From the first key that is remembered on; its owner closes the bus. */
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
  /** For people who wonder whether a key is still needed. Lost races and a store that is away do not matter here. */
  async function note(hash: string, text: string, record: ApiKeyRecord): Promise<void> {
    if (clock.now() - (record.lastUse ?? 0) < lastUseEveryMs) return
    const used = JSON.stringify({ ...record, lastUse: clock.now() })
    await withTimeout(store.swap([...root, hash], text, used), storeTimeoutMs, clock).catch(() => {})
  }

  function admin(mine: (record: ApiKeyTerms) => boolean, tenants?: readonly string[]): ApiKeyAdmin {
    /** Ids are the beginnings of hashes, so the next entry in order is the one, or there is none. */
    async function find(id: string): Promise<{ hash: string; text: string; record: ApiKeyRecord } | undefined> {
      if (!isId(id)) return undefined
      const [entry] = await store.list(root, { limit: 1, after: [...root, id] })
      const hash = entry?.key.at(-1)
      const record = entry && parseRecord(entry.value)
      return entry && hash?.startsWith(id) && record && mine(record) ? { hash, text: entry.value, record } : undefined
    }
    /** False where there is no such key, or `change` does not want it changed. */
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
      async create({ subject, scopes = [], label = '', expires, ...given }) {
        const terms = { subject, scopes, label, tenants: tenants ?? given.tenants ?? [] }
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
        // `g` comes after every hex digit: the entry this id stands for is passed over.
        let place: Key | undefined = after === undefined ? undefined : [...root, `${after}g`]
        while (found.length < limit) {
          const entries = await store.list(root, { limit: pageSize, ...(place && { after: place }) })
          for (const { key, value } of entries) {
            const record = parseRecord(value)
            if (record && mine(record) && found.length < limit)
              found.push({ id: key.at(-1)?.slice(0, idDigits) ?? '', ...record })
          }
          place = entries.at(-1)?.key
          if (entries.length < pageSize) break
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

  return {
    ...admin(() => true),
    forTenant: (tenant) => admin(({ tenants }) => tenants.length === 1 && tenants[0] === tenant, [tenant]),
    onChange(hear) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
    async verify(token, { facts }) {
      listen()
      const before = known.get(token)
      if (before) return before
      if (!isOurs(token)) return undefined
      const hash = await hashSecret(token)
      const text = await read(hash)
      // A key nobody made is read like one that was revoked, so that the two cost the same.
      const record = parseRecord(text ?? decoy)
      if (text === undefined || !record || record.revoked !== undefined || (record.expires ?? 1 / 0) <= clock.now()) {
        facts['tokenRefused'] = 'key'
        return undefined
      }
      await note(hash, text, record)
      const caller = toCaller(hash, record)
      known.set(token, caller)
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

const decoy = JSON.stringify({
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

/** WebCrypto's, since our own takes no care to hide what it hashes. */
const hashSecret = async (secret: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))))

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
