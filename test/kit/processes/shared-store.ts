/** The store and the bus that processes share, by the address of their server. On the build, since programs use it. */

import type { Bus, Store } from 'sluice'
import { postgresBus, postgresStore } from 'sluice/postgres'
import { redisBus, redisStore } from 'sluice/redis'

export interface SharedStore {
  readonly store: Store
  readonly bus: Bus
  close(): Promise<void>
}

export function openShared(url: string): SharedStore {
  const [store, bus] = url.startsWith('redis:')
    ? [redisStore({ url }), redisBus({ url })]
    : [postgresStore({ url }), postgresBus({ url })]
  return {
    store,
    bus,
    async close() {
      await Promise.all([store.close(), bus.close()])
    },
  }
}
