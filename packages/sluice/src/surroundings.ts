/** What a server gives its parts, filled in where the operator said nothing. With it a part, and its layer, can be used alone. */

import type { Bus } from './core/bus.ts'
import type { Clock } from './core/clock.ts'
import { systemClock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import { silentLogger } from './core/log.ts'
import type { Surroundings } from './core/part.ts'
import type { Secret } from './core/secrets.ts'
import { isEdgeRuntime, secretsOf } from './core/secrets.ts'
import type { Store } from './core/store.ts'
import { prefixed, refusingStore } from './core/store.ts'
import { createTenants } from './layers/tenant-registry.ts'
import { memoryBus } from './stores/memory-bus.ts'

export interface SurroundingsOptions {
  /** The server's: what it keeps in a store is apart from what others keep there. */
  readonly name: string
  readonly store?: Store | undefined
  readonly bus?: Bus | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
  readonly secret?: Secret | undefined
  readonly closing?: () => boolean
  readonly record?: Surroundings['record']
}

/** What parts get from a server, made without one: for commands and tests. */
export function surroundings(given: SurroundingsOptions): Surroundings {
  const { name, clock = systemClock, logger = silentLogger, bus = memoryBus() } = given
  const store = given.store ?? noStore
  return {
    name,
    store,
    own: prefixed(store, ['server', name]),
    bus,
    clock,
    logger,
    secrets: secretsOf(given.secret, { shared: store.shared !== undefined, edge: isEdgeRuntime() }),
    hasSecret: given.secret !== undefined,
    tenants: createTenants({ store, logger }),
    reference,
    closing: given.closing ?? (() => false),
    record: given.record ?? (() => {}),
    counts: [],
    uses: [],
  }
}

/** Memory would be the wrong guess on the edge, where the next request meets another isolate. */
const noStore = refusingStore(
  () => new TypeError('This server has no store: pass "store" to createServer, such as memoryStore()'),
)

/** Short enough to read out, long enough not to repeat in a day's log. */
const reference = (): string => crypto.randomUUID().slice(0, 13)
