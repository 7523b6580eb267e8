/** All that the console shows of the servers it watches, in one place: what handlers and feeds read. */

import type { ApprovalsService } from '../../approvals/service.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { Gauge as Counted, DefinitionSummary, Quota } from '../../core/plugin.ts'
import type { Store } from '../../core/store.ts'
import type { ApiKeyAdmin } from '../../layers/identities/api-keys.ts'
import type { Audit } from '../../observe/audit.ts'
import type { CountReading } from './api.ts'
import type { LiveStats } from './live-stats.ts'

/** One server that the console shows. */
export interface WatchedServer {
  readonly name: string
  definition(): DefinitionSummary
  /** Numbers that its plugins keep. */
  readonly gauges: readonly Counted[]
  readonly quotas: readonly Quota[]
}

export interface ConsoleState {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: LiveStats
  readonly keys: ApiKeyAdmin
  /** `undefined` if no server has approvals. */
  readonly approvals: ApprovalsService | undefined
  /** `undefined` if no server has an audit. */
  readonly audit: Audit | undefined
  /** In the order they came. */
  readonly servers: readonly WatchedServer[]
  /** Tickets that wait and that an operator of these tenants may see. */
  countPending(tenants: readonly string[]): Promise<number>
  onTicketChange(listener: () => void): () => void
  /** Numbers of whole servers: nothing for who may see some tenants alone. */
  gauges(tenants: readonly string[]): readonly CountReading[]
}

export const readGauges = (servers: readonly WatchedServer[]): readonly CountReading[] =>
  servers.flatMap(({ name: server, gauges }) =>
    gauges.map(({ name, help, read }) => ({ server, name, help, value: read() })),
  )
