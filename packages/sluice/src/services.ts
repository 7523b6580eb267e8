/** What a server gives its plugins, with defaults for what the operator left out. */

import type { Bus } from './core/bus.ts'
import type { Clock } from './core/clock.ts'
import { systemClock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import { silentLogger } from './core/log.ts'
import type { AuditLog, Gauge, Services } from './core/plugin.ts'
import { noAudit } from './core/plugin.ts'
import type { Secret } from './core/secrets.ts'
import { isEdgeRuntime, secretsOf } from './core/secrets.ts'
import type { Store } from './core/store.ts'
import { prefixed, refusingStore } from './core/store.ts'
import { newErrorId } from './core/unique-id.ts'
import { createTenants } from './layers/tenant-registry.ts'
import { memoryBus } from './stores/memory-bus.ts'

/** What services are made of. */
export interface ServicesOptions {
  /** The server's name: what it keeps in a store is apart from what other servers keep there. */
  readonly name: string
  readonly store?: Store | undefined
  readonly bus?: Bus | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
  readonly audit?: AuditLog | undefined
  readonly secret?: Secret | undefined
  readonly closing?: () => boolean
  readonly gauges?: Gauge[]
}

/** Creates what plugins get from a server, so that a plugin and its layer can be tested alone. */
export function createServices(options: ServicesOptions): Services {
  const { name, clock = systemClock, logger = silentLogger, bus = memoryBus(), store = noStore, secret } = options
  return {
    name,
    store,
    serverStore: prefixed(store, ['server', name]),
    bus,
    clock,
    logger,
    audit: options.audit ?? noAudit,
    secrets: secretsOf(secret, { shared: store.shared !== undefined, edge: isEdgeRuntime() }),
    hasSecret: secret !== undefined,
    tenants: createTenants({ store, logger }),
    newErrorId,
    closing: options.closing ?? (() => false),
    gauges: options.gauges ?? [],
    quotas: [],
  }
}

/** Memory would be the wrong default on the edge, where the next request may meet another isolate. */
const noStore: Store = {
  ...refusingStore(() => new TypeError('This server has no store: pass "store" to createServer')),
  isAbsent: true,
}
