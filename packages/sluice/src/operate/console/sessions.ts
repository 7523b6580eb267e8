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
import { below } from '../../core/store.ts'
import type { Operator } from './api.ts'
import { countAttempt } from './attempts.ts'
import type { OperatorKeys } from './operators.ts'

export interface SessionOf {
  readonly operator: Operator
  /** Of this session alone, and the same however often its id changes. */
  readonly csrf: string
  readonly expiresAt: number
  /** By which credential, for the audit: the key, or the link. */
  readonly credential: string
}

export interface Sessions {
  /** What a one-time link carries. */
  link(): Promise<string>
  /** Throws `unauthorized`, always with the same text, and `rateLimited` for who tries too often. */
  open(
    proof: { readonly link?: string; readonly key?: string },
    peer: string,
  ): Promise<{ readonly id: string; readonly session: SessionOf }>
  /** `renewed` is the id to use from now on, where it is time for another. */
  find(id: string): Promise<{ readonly session: SessionOf; readonly renewed?: string } | undefined>
  end(id: string): Promise<void>
}

interface Stored {
  /** The operator key it was opened with; left out: a link. */
  readonly key?: string
  readonly csrf: string
  readonly opened: number
  readonly renewed: number
  readonly seen: number
}

const linkMs = 15 * 60_000
const idleMs = 60 * 60_000
const longestMs = 12 * 60 * 60_000
const renewMs = 15 * 60_000
const graceMs = 60_000
/** Written at most this often. */
const seenMs = 60_000
/** Guessing 192 bits is hopeless; the limit keeps guessing from costing anything, and shows it in the log. */
const attempts: Bucket = { capacity: 10, perSecond: 0.2 }

export interface SessionsOptions {
  readonly store: Store
  readonly clock: Clock
  readonly operators: OperatorKeys
  /** Who signs in by a link: whoever reads the terminal. */
  readonly owner: string
}

export function createSessions({ store, clock, operators, owner }: SessionsOptions): Sessions {
  const own = below(store, ['console'])
  const byLink: Operator = { name: owner, scopes: ['approvals:decide', 'keys:manage', 'audit:export'], tenants: [] }

  async function operatorOf({ key }: Stored): Promise<Operator | undefined> {
    if (key === undefined) return byLink
    const found = await operators.find(key)
    return found && { name: found.name, scopes: found.scopes, tenants: found.tenants }
  }
  async function write(stored: Stored): Promise<string> {
    const id = random()
    await own.set(await sessionAt(id), JSON.stringify(stored), idleMs)
    return id
  }
  const toSession = (stored: Stored, operator: Operator): SessionOf => ({
    operator,
    csrf: stored.csrf,
    expiresAt: Math.min(stored.opened + longestMs, clock.now() + idleMs),
    credential: stored.key === undefined ? 'console link' : `operator key ${stored.key}`,
  })
  /** One of several requests at once renews; the others go on with the id they have. */
  async function renew(key: Key, text: string, stored: Stored): Promise<string | undefined> {
    const now = clock.now()
    if (now - stored.renewed >= renewMs) {
      if (!(await own.swap(key, text, JSON.stringify({ ...stored, renewed: now, seen: now }), graceMs)))
        return undefined
      return write({ ...stored, renewed: now, seen: now })
    }
    // Not for one that was replaced: writing would lend it another hour.
    if (now - stored.seen >= seenMs && now - stored.renewed >= graceMs)
      await own.swap(key, text, JSON.stringify({ ...stored, seen: now }), idleMs)
    return undefined
  }

  return {
    async link() {
      const token = random()
      await own.set(await linkAt(token), 'open', linkMs)
      return token
    },
    async open({ link, key }, peer) {
      await countAttempt(own, 'sign-in', peer, attempts)
      const now = clock.now()
      const fresh = { csrf: random(), opened: now, renewed: now, seen: now }
      const stored = (await spent(link)) ? fresh : await withKey(key, fresh)
      if (!stored) throw new RpcError('unauthorized', 'This link or key is not good (any more)')
      const operator = await operatorOf(stored)
      if (!operator) throw new RpcError('unauthorized', 'This link or key is not good (any more)')
      return { id: await write(stored), session: toSession(stored, operator) }
    },
    async find(id) {
      if (!isId(id)) return undefined
      const key = await sessionAt(id)
      const text = await own.get(key)
      const stored = text === undefined ? undefined : parse(text)
      if (text === undefined || !stored || clock.now() >= stored.opened + longestMs) return undefined
      const operator = await operatorOf(stored)
      if (!operator) return undefined
      const renewed = await renew(key, text, stored)
      return { session: toSession(stored, operator), ...(renewed !== undefined && { renewed }) }
    },
    end: async (id) => {
      if (isId(id)) await own.delete(await sessionAt(id))
    },
  }

  /** One winner, in whatever process. */
  async function spent(link: string | undefined): Promise<boolean> {
    if (link === undefined || !isId(link)) return false
    return own.swap(await linkAt(link), 'open', 'spent', 1)
  }
  async function withKey(secret: string | undefined, fresh: Stored): Promise<Stored | undefined> {
    const found = secret === undefined ? undefined : await operators.verify(secret)
    return found && { ...fresh, key: found.id }
  }
}

const sessionAt = async (id: string): Promise<Key> => ['sessions', await hashOf(id)]
const linkAt = async (token: string): Promise<Key> => ['links', await hashOf(token)]

function parse(text: string): Stored | undefined {
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
const random = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('hex')
const hashOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')
