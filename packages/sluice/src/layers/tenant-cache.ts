/**
 * What tenants keep in memory, bounded over all of them: one that writes without end pushes out its own entries, and
 * the memory of the process does not grow with the number of tenants.
 */

import type { Cache } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Key } from '../core/store.ts'

export interface Caches {
  /** The one of this tenant; nothing is kept for it until it writes. */
  of(tenant: string): Cache
  /** Characters kept, over all tenants. */
  readonly size: number
}

interface Entry {
  readonly value: string
  readonly until: number
  readonly size: number
}
interface Share {
  readonly entries: Map<string, Entry>
  size: number
}

/** One tenant may have this part of the whole. */
const part = 8
/** What an entry costs beside its characters: without it a million empty ones would be free. */
const overhead = 128

/** `maxChars` over all tenants; a character is one or two bytes. */
export function createCaches(clock: Clock, maxChars: number): Caches {
  // In the order of their last write, so that the first is the one nobody works for.
  const shares = new Map<string, Share>()
  const maxShare = Math.floor(maxChars / part)
  let total = 0

  function remove(tenant: string, share: Share, name: string): void {
    const entry = share.entries.get(name)
    if (!entry) return
    share.entries.delete(name)
    share.size -= entry.size
    total -= entry.size
    if (share.entries.size === 0) shares.delete(tenant)
  }
  function removeOldest(tenant: string, share: Share): void {
    const [name] = share.entries.keys()
    if (name !== undefined) remove(tenant, share, name)
  }
  function removeIdlest(): void {
    const [idlest] = shares
    if (idlest) removeOldest(...idlest)
  }
  function put(tenant: string, name: string, entry: Entry): void {
    const share = shares.get(tenant) ?? { entries: new Map(), size: 0 }
    remove(tenant, share, name)
    if (entry.size > maxShare) return
    while (share.size + entry.size > maxShare) removeOldest(tenant, share)
    shares.delete(tenant)
    shares.set(tenant, share)
    share.entries.set(name, entry)
    share.size += entry.size
    total += entry.size
    while (total > maxChars) removeIdlest()
  }

  return {
    of: (tenant) => ({
      get(key) {
        const name = nameOf(key)
        const share = shares.get(tenant)
        const entry = share?.entries.get(name)
        if (!share || !entry) return undefined
        if (entry.until > clock.now()) return entry.value
        remove(tenant, share, name)
        return undefined
      },
      set(key, value, ttlMs) {
        const name = nameOf(key)
        put(tenant, name, { value, until: clock.now() + ttlMs, size: name.length + value.length + overhead })
      },
      delete(key) {
        const share = shares.get(tenant)
        if (share) remove(tenant, share, nameOf(key))
      },
    }),
    get size() {
      return total
    },
  }
}

const nameOf = (key: Key): string => JSON.stringify(key)
