/** A store whose keys expire by a test's clock. Redis has a clock that no test owns, so leases would never end there. */

import type { Clock, Store } from 'sluice'

interface Expiring {
  readonly until: number
  readonly value: string
}

export function expiringBy(clock: Clock, store: Store): Store {
  const wrap = (value: string, ttlMs = Number.MAX_SAFE_INTEGER): string =>
    JSON.stringify({ until: Math.min(clock.now() + ttlMs, Number.MAX_SAFE_INTEGER), value } satisfies Expiring)
  const unwrap = (raw: string | undefined): string | undefined => {
    const kept = raw === undefined ? undefined : (JSON.parse(raw) as Expiring)
    return kept && kept.until > clock.now() ? kept.value : undefined
  }
  return {
    get: async (key) => unwrap(await store.get(key)),
    set: (key, value, ttlMs) => store.set(key, wrap(value, ttlMs)),
    async swap(key, from, to, ttlMs) {
      const raw = await store.get(key)
      return unwrap(raw) === from && store.swap(key, raw, wrap(to, ttlMs))
    },
    delete: (key) => store.delete(key),
    take: (key, bucket) => store.take(key, bucket),
    append: (key, value, ttlMs) => store.append(key, wrap(value, ttlMs)),
    async list(prefix, page) {
      const entries = await store.list(prefix, page)
      return entries.flatMap(({ key, value }) => {
        const live = unwrap(value)
        return live === undefined ? [] : [{ key, value: live }]
      })
    },
  }
}
