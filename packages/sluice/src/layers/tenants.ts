/** What a tenant is handed: its own part of the store and the cache, and a logger that says whose line it is. */

import type { Cache, Tenant } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { Tenants } from '../core/part.ts'
import type { Store } from '../core/store.ts'
import { below } from '../core/store.ts'
import { createCaches } from './tenant-cache.ts'

export interface TenantsOptions {
  readonly store: Store
  readonly logger: Logger
  readonly clock: Clock
  /** Characters cached in memory over all tenants, an eighth of it for one: 16 Mi unless said. */
  readonly cacheChars?: number
}

/** Tenants kept ready, so that a call makes nothing. They hold no data: one that was dropped is made again. */
const maxReady = 10_000

export function createTenants({ store, logger, clock, cacheChars = 16 * 1024 * 1024 }: TenantsOptions): Tenants {
  const caches = createCaches(clock, cacheChars)
  const ready = new Map<string, Tenant>()
  return {
    of(id) {
      const known = ready.get(id)
      if (known) return known
      const made: Tenant = {
        id,
        store: below(store, ['tenant', id]),
        cache: caches.of(id),
        logger: stamping(logger, id),
        tools: undefined,
      }
      if (ready.size >= maxReady) ready.clear()
      ready.set(id, made)
      return made
    },
    // No tenant can be called this: ids have at least one character.
    nobody: { id: '', store: refusing, cache: forgetting, logger, tools: undefined },
  }
}

/** The tenant comes last: no line can pass for another's. */
const stamping = (logger: Logger, tenant: string): Logger => ({
  info: (line: LogLine) => logger.info({ ...line, tenant }),
  warn: (line: LogLine) => logger.warn({ ...line, tenant }),
  error: (line: LogLine) => logger.error({ ...line, tenant }),
})

const refuse = (): Promise<never> =>
  Promise.reject(new RpcError('forbidden', 'This call has no tenant, so it can store nothing; sign in first'))

const refusing: Store = {
  get: refuse,
  set: refuse,
  swap: refuse,
  delete: refuse,
  take: refuse,
  append: refuse,
  list: refuse,
}
const forgetting: Cache = { get: () => undefined, set() {}, delete() {} }
