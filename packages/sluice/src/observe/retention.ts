/** Prunes every tenant's audit to its limits, once an hour. */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import { newErrorId } from '../core/unique-id.ts'
import { eachAuditTenant } from './chain-read.ts'
import type { RetentionLimits } from './prune.ts'
import { pruneAudit } from './prune.ts'

/** How long records are kept, for all tenants and for each. */
export interface Retention extends RetentionLimits {
  /** Limits of single tenants by id, which replace the ones above, for example to keep records longer. */
  readonly tenants?: { readonly [tenant: string]: RetentionLimits }
}

export interface RetentionOptions {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly secrets: () => readonly string[]
}

/** Returns the limits of one tenant. Its own limits win. */
export const limitsFor = ({ tenants = {}, ...limits }: Retention, tenant: string): RetentionLimits =>
  (Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined) ?? limits

const hourMs = 3_600_000
/** Delay after the start, so that starting does not wait for it. */
const firstDelayMs = 60_000

export function createRetention(
  retention: Retention,
  { store, clock, logger, secrets }: RetentionOptions,
): { start(): void; close(): Promise<void> } {
  let cancelTimer: (() => void) | undefined
  let running: Promise<void> = Promise.resolve()
  let closed = false
  const schedule = (ms: number): void => {
    cancelTimer = clock.after(ms, () => {
      running = run()
        .catch((thrown: unknown) => {
          logger.warn({ event: 'audit_retention_failed', message: thrown instanceof Error ? thrown.message : '' })
        })
        .then(() => {
          if (!closed) schedule(hourMs)
        })
    })
  }
  async function run(): Promise<void> {
    // Only one of the processes that share the store prunes.
    if ((await store.take(['audit', 'retention'], { burst: 1, perSecond: 1000 / hourMs })) > 0) return
    for await (const tenant of eachAuditTenant(store)) {
      if (closed) return
      const limits = limitsFor(retention, tenant)
      const writer = newErrorId()
      const options = { ...limits, secrets, clock, writer, by: 'retention', stopped: () => closed }
      const { removed, refused } = await pruneAudit(store, tenant, options)
      if (removed > 0) logger.info({ event: 'audit_pruned', tenant, records: removed })
      if (refused) logger.error({ event: 'audit_prune_refused', tenant, ...refused })
    }
  }
  return {
    start() {
      if (!cancelTimer && !closed) schedule(firstDelayMs)
    },
    async close() {
      closed = true
      cancelTimer?.()
      await running
    },
  }
}
