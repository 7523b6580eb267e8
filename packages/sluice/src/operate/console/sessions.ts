/**
 * Browser sessions and the one-time links that open them. Both are random, kept in the store as hashes, and so shared by
 * all processes: whoever reads the store cannot sign in with what stands there.
 *
 * A session has a new id when somebody signs in (an id planted before is worth nothing) and every fifteen minutes of use;
 * the one before works for another minute, since a page has several requests under way. It ends after an hour without
 * use, after twelve in any case, and as soon as its key is revoked.
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import type { Bucket, Key, Store } from '../../core/store.ts'
import { prefixed } from '../../core/store.ts'
import type { Operator } from './api.ts'
import { throttleAttempt } from './login-throttle.ts'
import type { OperatorKeys } from './operators.ts'

export interface ConsoleSession {
  readonly operator: Operator
  /** Of this session alone, and the same however often its id changes. */
  readonly csrf: string
  readonly expiresAt: number
  /** By which credential, for the audit: the key, or the link. */
  readonly credential: string
}

export interface ConsoleSessions {
  /** What a one-time link carries. */
  createLink(): Promise<string>
  /** Throws `unauthorized`, always with the same text, and `rateLimited` for who tries too often. */
  open(
    proof: { readonly link?: string; readonly key?: string },
    peer: string,
  ): Promise<{ readonly id: string; readonly session: ConsoleSession }>
  /** `renewed` is the id to use from now on, where it is time for another. */
  find(id: string): Promise<{ readonly session: ConsoleSession; readonly renewed?: string } | undefined>
  close(id: string): Promise<void>
}

interface StoredSession {
  /** The operator key it was opened with; left out: a link. */
  readonly key?: string
  readonly csrf: string
  readonly opened: number
  readonly renewed: number
  readonly seen: number
}

const linkTtlMs = 15 * 60_000
const idleMs = 60 * 60_000
const maxSessionMs = 12 * 60 * 60_000
const renewIntervalMs = 15 * 60_000
const graceMs = 60_000
/** Written at most this often. */
const seenWriteIntervalMs = 60_000
/** Guessing 192 bits is hopeless; the limit keeps guessing from costing anything, and shows it in the log. */
const signInBucket: Bucket = { burst: 10, perSecond: 0.2 }

export interface ConsoleSessionsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly operators: OperatorKeys
  /** Who signs in by a link: whoever reads the terminal. */
  readonly owner: string
}

export function createConsoleSessions({ store, clock, operators, owner }: ConsoleSessionsOptions): ConsoleSessions {
  const consoleStore = prefixed(store, ['console'])
  const byLink: Operator = { name: owner, scopes: ['approvals:decide', 'keys:manage', 'audit:export'], tenants: [] }

  async function operatorOf({ key }: StoredSession): Promise<Operator | undefined> {
    if (key === undefined) return byLink
    const found = await operators.find(key)
    return found && { name: found.name, scopes: found.scopes, tenants: found.tenants }
  }
  async function write(stored: StoredSession): Promise<string> {
    const id = randomId()
    await consoleStore.set(await sessionKey(id), JSON.stringify(stored), idleMs)
    return id
  }
  const toSession = (stored: StoredSession, operator: Operator): ConsoleSession => ({
    operator,
    csrf: stored.csrf,
    expiresAt: Math.min(stored.opened + maxSessionMs, clock.now() + idleMs),
    credential: stored.key === undefined ? 'console link' : `operator key ${stored.key}`,
  })
  /** One of several requests at once renews; the others go on with the id they have. */
  async function renew(key: Key, text: string, stored: StoredSession): Promise<string | undefined> {
    const now = clock.now()
    if (now - stored.renewed >= renewIntervalMs) {
      if (!(await consoleStore.swap(key, text, JSON.stringify({ ...stored, renewed: now, seen: now }), graceMs)))
        return undefined
      return write({ ...stored, renewed: now, seen: now })
    }
    // Not for one that was replaced: writing would lend it another hour.
    if (now - stored.seen >= seenWriteIntervalMs && now - stored.renewed >= graceMs)
      await consoleStore.swap(key, text, JSON.stringify({ ...stored, seen: now }), idleMs)
    return undefined
  }

  return {
    async createLink() {
      const token = randomId()
      await consoleStore.set(await linkKey(token), 'open', linkTtlMs)
      return token
    },
    async open({ link, key }, peer) {
      await throttleAttempt(consoleStore, 'sign-in', peer, signInBucket)
      const now = clock.now()
      const fresh = { csrf: randomId(), opened: now, renewed: now, seen: now }
      const stored = (await spent(link)) ? fresh : await withKey(key, fresh)
      if (!stored) throw new RpcError('unauthorized', 'This link or key is not good (any more)')
      const operator = await operatorOf(stored)
      if (!operator) throw new RpcError('unauthorized', 'This link or key is not good (any more)')
      return { id: await write(stored), session: toSession(stored, operator) }
    },
    async find(id) {
      if (!isId(id)) return undefined
      const key = await sessionKey(id)
      const text = await consoleStore.get(key)
      const stored = text === undefined ? undefined : parse(text)
      if (text === undefined || !stored || clock.now() >= stored.opened + maxSessionMs) return undefined
      const operator = await operatorOf(stored)
      if (!operator) return undefined
      const renewed = await renew(key, text, stored)
      return { session: toSession(stored, operator), ...(renewed !== undefined && { renewed }) }
    },
    close: async (id) => {
      if (isId(id)) await consoleStore.delete(await sessionKey(id))
    },
  }

  /** One winner, in whatever process. */
  async function spent(link: string | undefined): Promise<boolean> {
    if (link === undefined || !isId(link)) return false
    return consoleStore.swap(await linkKey(link), 'open', 'spent', 1)
  }
  async function withKey(secret: string | undefined, fresh: StoredSession): Promise<StoredSession | undefined> {
    const found = secret === undefined ? undefined : await operators.verify(secret)
    return found && { ...fresh, key: found.id }
  }
}

const sessionKey = async (id: string): Promise<Key> => ['sessions', await hashOf(id)]
const linkKey = async (token: string): Promise<Key> => ['links', await hashOf(token)]

function parse(text: string): StoredSession | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value)) return undefined
    const { key, csrf, opened, renewed, seen } = value
    if (
      typeof csrf !== 'string' ||
      typeof opened !== 'number' ||
      typeof renewed !== 'number' ||
      typeof seen !== 'number'
    )
      return undefined
    return { csrf, opened, renewed, seen, ...(typeof key === 'string' && { key }) }
  } catch {
    return undefined
  }
}

const isId = (text: string): boolean => /^[0-9a-f]{48}$/.test(text)
const randomId = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('hex')
const hashOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
