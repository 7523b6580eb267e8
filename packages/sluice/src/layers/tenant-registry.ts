/** Creates tenants: each has its own part of the store, and a logger that stamps its lines. */

import type { Tenant } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { Tenants } from '../core/plugin.ts'
import type { Store } from '../core/store.ts'
import { prefixed, refusingStore } from '../core/store.ts'

/** The tenant of calls where there are no tenants: what the owner of a data folder keeps in it, over stdio and with their own key. */
export const ownerTenant = 'default'

export interface TenantRegistryOptions {
  readonly store: Store
  readonly logger: Logger
}

/** Tenants kept ready, so that a call makes nothing. They hold no data: one that was dropped is made again. */
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
    // No tenant can be called this: ids have at least one character.
    none: { id: '', store: noTenantStore, logger, tools: undefined },
  }
}

/** The tenant comes last: no line can pass for another's. */
const withTenant = (logger: Logger, tenant: string): Logger => ({
  info: (line: LogLine) => logger.info({ ...line, tenant }),
  warn: (line: LogLine) => logger.warn({ ...line, tenant }),
  error: (line: LogLine) => logger.error({ ...line, tenant }),
})

const noTenantStore = refusingStore(
  () => new RpcError('forbidden', 'This call has no tenant, so it can store nothing; sign in first'),
)
