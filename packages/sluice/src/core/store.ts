/** State that outlives a call: seven atomic verbs over keys that are arrays. */

import type { HubFactory } from './hub.ts'

/** Parts, never a joined string: tenant `a:b` must not reach the keys of tenant `a`. */
export type Key = readonly string[]

/** A token bucket: `burst` at once, refilled by `perSecond`. */
export interface Bucket {
  readonly burst: number
  readonly perSecond: number
}

export interface StoreEntry {
  readonly key: Key
  readonly value: string
}

/** How much of a list to read, and from where. */
export interface PageRequest {
  /** At most this many entries. */
  readonly limit: number
  /** Only entries after this key. */
  readonly after?: Key
}

/** Each verb is atomic; callers build on that and on nothing more. */
export interface Store {
  /** The store lives in this process: it is never away, so nothing falls back from it. */
  readonly inProcess?: true
  /**
   * Of a store that other processes use too, and then how a server's processes tell each other of changes: `sharedHub`.
   * What is sealed must open there, so a secret must be given.
   */
  readonly shared?: HubFactory
  /**
   * Rejects where what was acknowledged may be forgotten, with what to change; resolves with what is merely weaker than it
   * could be, as sentences. Absent where there is nothing to ask.
   */
  checkDurability?(): Promise<readonly string[]>
  get(key: Key): Promise<string | undefined>
  set(key: Key, value: string, ttlMs?: number): Promise<void>
  /** Writes `to` only where `from` stands (`undefined`: where nothing is). True for the one caller who won. */
  swap(key: Key, from: string | undefined, to: string, ttlMs?: number): Promise<boolean>
  delete(key: Key): Promise<void>
  /** 0: taken. Otherwise milliseconds until it could be, by the store's own clock. */
  take(key: Key, bucket: Bucket): Promise<number>
  /** Adds to an ordered log below `key`; `list` reads it back in order. Returns the key it got. */
  append(key: Key, value: string, ttlMs?: number): Promise<Key>
  /** In key order, below a prefix, a page at a time. */
  list(prefix: Key, page: PageRequest): Promise<readonly StoreEntry[]>
  // No `has`: by the time it answers it may be wrong. No `clear`: no caller should want it.
}

/** The same store below a prefix: what a tenant is handed. */
export const prefixed = (store: Store, prefix: Key): Store => ({
  ...(store.shared && { shared: store.shared }),
  get: (key) => store.get([...prefix, ...key]),
  set: (key, value, ttlMs) => store.set([...prefix, ...key], value, ttlMs),
  swap: (key, from, to, ttlMs) => store.swap([...prefix, ...key], from, to, ttlMs),
  delete: (key) => store.delete([...prefix, ...key]),
  take: (key, bucket) => store.take([...prefix, ...key], bucket),
  append: async (key, value, ttlMs) => (await store.append([...prefix, ...key], value, ttlMs)).slice(prefix.length),
  async list(under, { limit, after }) {
    const page: PageRequest = after ? { limit, after: [...prefix, ...after] } : { limit }
    const entries = await store.list([...prefix, ...under], page)
    return entries.map(({ key, value }) => ({ key: key.slice(prefix.length), value }))
  },
})

/** A store whose every verb rejects with `why`: without a store nothing may seem to be kept. */
export function refusingStore(why: () => Error): Store {
  const refuse = (): Promise<never> => Promise.reject(why())
  return { get: refuse, set: refuse, swap: refuse, delete: refuse, take: refuse, append: refuse, list: refuse }
}
