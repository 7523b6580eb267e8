/** The state that the console shows of its servers. Handlers and event streams read it. */

import type { Desk } from '../../approvals/desk.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { Count as Counted, Defined, Use } from '../../core/part.ts'
import type { Store } from '../../core/store.ts'
import type { ApiKeyAdmin } from '../../layers/identities/api-keys.ts'
import type { CountReading } from './api.ts'
import type { LiveStats } from './live-stats.ts'

/** One server that the console shows. */
export interface WatchedServer {
  readonly name: string
  definition(): Defined
  /** Gauges of the server's other plugins. */
  readonly gauges: readonly Counted[]
  readonly quotas: readonly Use[]
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Secrets that sign the checkpoints of the audit. */
  readonly secrets: () => readonly string[]
}

export interface ConsoleState {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: LiveStats
  readonly keys: ApiKeyAdmin
  /** `undefined` if no server has approvals. */
  readonly desk: Desk | undefined
  /** The servers, in the order they were added. */
  readonly servers: readonly WatchedServer[]
  /** Counts the pending tickets that an operator of these tenants may see. */
  countPending(tenants: readonly string[]): Promise<number>
  onTicketChange(listener: () => void): () => void
  /** Records an operator's action in the audit of a tenant. */
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Gauges of whole servers. Empty for operators who may see only some tenants. */
  gauges(tenants: readonly string[]): readonly CountReading[]
}

export const readGauges = (servers: readonly WatchedServer[]): readonly CountReading[] =>
  servers.flatMap(({ name: server, gauges }) =>
    gauges.map(({ name, help, read }) => ({ server, name, help, value: read() })),
  )
