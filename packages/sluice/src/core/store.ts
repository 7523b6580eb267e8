/** State that outlives a call: seven atomic verbs over keys that are arrays. */

import type { HubFactory } from './hub.ts'

/** An array, never a joined string, so that tenant `a:b` cannot reach the keys of tenant `a`. */
export type Key = readonly string[]

/** A token bucket: at most `burst` at once, refilled by `perSecond`. */
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

/** Each verb is atomic. Callers rely on that and on nothing more. */
export interface Store {
  /** True if the store is in this process. It is then always available, so no fallback is needed. */
  readonly inProcess?: true
  /** True if the server has no store, and every verb rejects. */
  readonly isAbsent?: true
  /**
   * Present if other processes use the store too. It connects the processes of a server: `sharedHub`. Those processes
   * must open what this one sealed, so such a store needs a secret.
   */
  readonly shared?: HubFactory
  /**
   * Rejects if acknowledged writes can be lost (the message says how to fix it). Resolves with warnings. Absent if
   * there is nothing to check.
   */
  checkDurability?(): Promise<readonly string[]>
  get(key: Key): Promise<string | undefined>
  set(key: Key, value: string, ttlMs?: number): Promise<void>
  /**
   * Writes `to` only if the current value is `from` (`undefined` means no value). Returns true for the one caller that
   * won.
   */
  swap(key: Key, from: string | undefined, to: string, ttlMs?: number): Promise<boolean>
  delete(key: Key): Promise<void>
  /**
   * Returns 0 if a token was taken. Otherwise returns the milliseconds until one is available, by the store's own
   * clock.
   */
  take(key: Key, bucket: Bucket): Promise<number>
  /** Appends to an ordered log below `key`, which `list` reads in order. Returns the key of the new entry. */
  append(key: Key, value: string, ttlMs?: number): Promise<Key>
  /** Lists the entries below a prefix in key order, a page at a time. */
  list(prefix: Key, page: PageRequest): Promise<readonly StoreEntry[]>
  // There is no `has`, because its answer may be outdated at once. There is no `clear`, because no caller should need
  // it.
}

/** Returns the same store below a prefix, for example a tenant's store. */
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

/** Lists the entries below a prefix page by page, from the first one after `after`, until a page is not full. */
export async function* pagesOf(
  store: Pick<Store, 'list'>,
  prefix: Key,
  limit: number,
  after?: Key,
): AsyncGenerator<readonly StoreEntry[], void, undefined> {
  for (let last = after; ; ) {
    const page = await store.list(prefix, last ? { limit, after: last } : { limit })
    yield page
    last = page.at(-1)?.key
    if (page.length < limit) return
  }
}

/** Returns a store whose verbs all reject with `why`, so that nothing seems to be stored without a store. */
export function refusingStore(why: () => Error): Store {
  const refuse = (): Promise<never> => Promise.reject(why())
  return { get: refuse, set: refuse, swap: refuse, delete: refuse, take: refuse, append: refuse, list: refuse }
}
