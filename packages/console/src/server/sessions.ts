/**
 * Browser sessions and the one-time links that open them. Both are random and shared by all processes. The store holds
 * only their hashes, so that a reader of the store cannot sign in.
 *
 * A session gets a new id at sign-in, so that a planted id is worthless, and after every fifteen minutes of use. The old
 * id works for another minute, because a page has several requests in flight. A session ends after an hour without use,
 * after twelve hours in any case, and as soon as its key is revoked.
 */

import type { Clock, Store } from 'sluice'
import { RpcError } from 'sluice'
import type { Bucket } from 'sluice/internal'
import { isObject, prefixed } from 'sluice/internal'
import type { Operator } from '../api/index.ts'
import { throttleAttempt } from './login-throttle.ts'
import type { OperatorKeys } from './operators.ts'
import { operatorScopes } from './operators.ts'

export interface ConsoleSession {
  readonly operator: Operator
  /** The session's CSRF token. It stays the same when the id changes. */
  readonly csrf: string
  readonly expiresAt: number
  /** The credential for the audit: the key or the link. */
  readonly credential: string
}

export interface ConsoleSessions {
  /** Creates the token of a one-time link. */
  createLink(): Promise<string>
  /** Opens a session. Throws `unauthorized`, always with the same message, and `rateLimited` after too many attempts. */
  open(
    proof: { readonly link?: string; readonly key?: string },
    peer: string,
  ): Promise<{ readonly id: string; readonly session: ConsoleSession }>
  /** Finds a session. `renewed` is the new id if the session got one. */
  find(id: string): Promise<{ readonly session: ConsoleSession; readonly renewed?: string } | undefined>
  close(id: string): Promise<void>
}

interface StoredSession {
  /** The operator key it was opened with; absent for a link. */
  readonly key?: string
  readonly csrf: string
  readonly opened: number
  readonly renewed: number
  readonly seen: number
}

/** The credential of sessions that a link opened. */
export const linkCredential = 'console link'

const linkTtlMs = 15 * 60_000
const idleMs = 60 * 60_000
const maxSessionMs = 12 * 60 * 60_000
const renewIntervalMs = 15 * 60_000
const graceMs = 60_000
/** The minimum time between two writes of `seen`. */
const seenWriteIntervalMs = 60_000
/** Guessing 192 bits is hopeless. The limit keeps guesses cheap for the server and visible in the log. */
const signInBucket: Bucket = { burst: 10, perSecond: 0.2 }

export interface ConsoleSessionsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly operators: OperatorKeys
  /** The name of the operator who signs in by a link, which is the person at the terminal. */
  readonly owner: string
}

export function createConsoleSessions({ store, clock, operators, owner }: ConsoleSessionsOptions): ConsoleSessions {
  const consoleStore = prefixed(store, ['console'])
  const byLink: Operator = { name: owner, scopes: operatorScopes, tenants: [] }

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
    credential: stored.key === undefined ? linkCredential : `operator key ${stored.key}`,
  })
  /** Renews the id. Of several concurrent requests one renews, and the others keep the id they have. */
  async function renew(key: readonly string[], text: string, stored: StoredSession): Promise<string | undefined> {
    const now = clock.now()
    if (now - stored.renewed >= renewIntervalMs) {
      if (!(await consoleStore.swap(key, text, JSON.stringify({ ...stored, renewed: now, seen: now }), graceMs)))
        return undefined
      return write({ ...stored, renewed: now, seen: now })
    }
    // A replaced session is not written, because that would extend it by another hour.
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
      const now = clock.now()
      const fresh = { csrf: randomId(), opened: now, renewed: now, seen: now }
      const stored = (await spendLink(link)) ? fresh : await withKey(key, fresh)
      const operator = stored && (await operatorOf(stored))
      if (!stored || !operator) {
        await throttleAttempt(consoleStore, 'sign-in', peer, signInBucket)
        throw new RpcError('unauthorized', 'This sign-in link or key is invalid or has expired')
      }
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

  /** Spends a link. Of all processes, exactly one succeeds. */
  async function spendLink(link: string | undefined): Promise<boolean> {
    if (link === undefined || !isId(link)) return false
    return consoleStore.swap(await linkKey(link), 'open', 'spent', 1)
  }
  async function withKey(secret: string | undefined, fresh: StoredSession): Promise<StoredSession | undefined> {
    const found = secret === undefined ? undefined : await operators.verify(secret)
    return found && { ...fresh, key: found.id }
  }
}

const sessionKey = async (id: string): Promise<readonly string[]> => ['sessions', await hashOf(id)]
const linkKey = async (token: string): Promise<readonly string[]> => ['links', await hashOf(token)]

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
