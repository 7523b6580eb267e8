/** All that the console shows of the servers it watches, in one place: what handlers and feeds read. */

import type { Desk } from '../../approvals/desk.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { Count as Counted, Defined, Use } from '../../core/part.ts'
import type { Store } from '../../core/store.ts'
import type { ApiKeyAdmin } from '../../layers/identities/api-keys.ts'
import type { CountReading } from './api.ts'
import type { LiveStats } from './live-stats.ts'

/** One server, as its part knows it. */
export interface WatchedServer {
  readonly name: string
  definition(): Defined
  /** Numbers its other parts keep. */
  readonly gauges: readonly Counted[]
  readonly quotas: readonly Use[]
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Sign the checkpoints of the audit. */
  readonly secrets: () => readonly string[]
}

export interface ConsoleState {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: LiveStats
  readonly keys: ApiKeyAdmin
  /** Left out where no server has approvals. */
  readonly desk: Desk | undefined
  /** In the order they came. */
  readonly servers: readonly WatchedServer[]
  /** Tickets that wait and that an operator of these tenants may see. */
  countPending(tenants: readonly string[]): Promise<number>
  onTicketChange(listener: () => void): () => void
  /** Puts what an operator did into the audit of a tenant. */
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Numbers of whole servers: nothing for who may see some tenants alone. */
  gauges(tenants: readonly string[]): readonly CountReading[]
}

export const readGauges = (servers: readonly WatchedServer[]): readonly CountReading[] =>
  servers.flatMap(({ name: server, gauges }) =>
    gauges.map(({ name, help, read }) => ({ server, name, help, value: read() })),
  )
