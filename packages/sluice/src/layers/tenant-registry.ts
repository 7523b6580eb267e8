/** Creates tenants. Each has its own prefix in the store, and a logger that adds the tenant to its lines. */

import type { Tenant } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { Tenants } from '../core/plugin.ts'
import type { Store } from '../core/store.ts'
import { prefixed, refusingStore } from '../core/store.ts'

/**
 * The tenant of all calls on a server without tenants. It holds the data that the owner of a data folder has over stdio
 * and with their own key.
 */
export const ownerTenant = 'default'

export interface TenantRegistryOptions {
  readonly store: Store
  readonly logger: Logger
}

/**
 * Maximum number of cached tenants, so that a call creates nothing. They hold no data, so a dropped one is created
 * again.
 */
const maxCached = 10_000

export function createTenants({ store, logger }: TenantRegistryOptions): Tenants {
  const ready = new Map<string, Tenant>()
  return {
    of(id) {
      const known = ready.get(id)
      if (known) return known
      const made: Tenant = {
        id,
        store: prefixed(store, ['tenant', id]),
        logger: withTenant(logger, id),
        tools: undefined,
      }
      if (ready.size >= maxCached) ready.clear()
      ready.set(id, made)
      return made
    },
    // No tenant can have this id, because ids have at least one character.
    none: { id: '', store: noTenantStore, logger, tools: undefined },
  }
}

/** Adds the tenant last, so that no line can claim another tenant. */
const withTenant = (logger: Logger, tenant: string): Logger => ({
  info: (line: LogLine) => logger.info({ ...line, tenant }),
  warn: (line: LogLine) => logger.warn({ ...line, tenant }),
  error: (line: LogLine) => logger.error({ ...line, tenant }),
})

const noTenantStore = refusingStore(
  () => new RpcError('forbidden', 'This call has no tenant, so it can store nothing; sign in first'),
)
