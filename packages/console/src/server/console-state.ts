/** The state that the console shows of its servers. Handlers and event streams read it. */

import type { Clock, Logger, Store } from 'sluice'
import type { ApprovalsService } from 'sluice/approvals'
import type { Audit } from 'sluice/audit'
import type { DefinitionSummary } from 'sluice/card'
import type { Gateway } from 'sluice/gateway'
import type { ApiKeyAdmin, AttachedServer, Gauge as Counted, Quota } from 'sluice/internal'
import type { ClientFile, CountReading, RunningTask } from '../api/index.ts'
import type { History } from './history.ts'
import type { LayerTimes } from './layer-times.ts'
import type { LiveFilter, LiveStats } from './live-stats.ts'

/** One server that the console shows. */
export interface WatchedServer {
  readonly name: string
  definition(): DefinitionSummary
  /** Whether callers must prove who they are. */
  readonly authenticated: boolean
  /** The server itself; `undefined` until it is complete. */
  readonly attached: AttachedServer | undefined
  /** Numbers that its plugins keep. */
  readonly gauges: readonly Counted[]
  readonly quotas: readonly Quota[]
}

export interface ConsoleState {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: LiveStats
  readonly layerTimes: LayerTimes
  readonly history: History
  /** Whether the operator named the person of the link. Otherwise that person has no name among the callers. */
  readonly hasOwner: boolean
  /** The gateway of this process; `undefined` if there is none. */
  gateway(): Gateway | undefined
  clients(): readonly (ClientFile & { readonly isLocal?: boolean })[]
  readonly keys: ApiKeyAdmin
  /** `undefined` if no server has approvals. */
  readonly approvals: ApprovalsService | undefined
  /** `undefined` if no server has an audit. */
  readonly audit: Audit | undefined
  /** The servers, in the order they were added. */
  readonly servers: readonly WatchedServer[]
  /** Counts the pending tickets that an operator of these tenants may see. */
  countPending(tenants: readonly string[]): Promise<number>
  onTicketChange(listener: () => void): () => void
  /** Gauges of whole servers. Empty for operators who may see only some tenants. */
  gauges(tenants: readonly string[]): readonly CountReading[]
  /** The tasks that the servers run now. */
  running(filter: LiveFilter): readonly RunningTask[]
}

export const readGauges = (servers: readonly WatchedServer[]): readonly CountReading[] =>
  servers.flatMap(({ name: server, gauges }) =>
    gauges.map(({ name, help, read }) => ({ server, name, help, value: read() })),
  )

/** More than a person reads. It is sent every second. */
const maxRunning = 50

export function readRunning(
  servers: readonly WatchedServer[],
  { server, tenant, tool, tenants = [] }: LiveFilter,
): readonly RunningTask[] {
  const found = servers
    .filter(({ name }) => server === undefined || server === name)
    .flatMap(({ name, quotas }) =>
      quotas.flatMap(({ running }) =>
        (running?.() ?? []).map(({ message, ...work }) => ({
          ...{ ...work, server: name },
          ...(message !== undefined && { message }),
        })),
      ),
    )
  return found
    .filter((work) => tenant === undefined || tenant === work.tenant)
    .filter((work) => tool === undefined || tool === work.tool)
    .filter((work) => tenants.length === 0 || tenants.includes(work.tenant))
    .sort((one, other) => one.startedAt - other.startedAt)
    .slice(0, maxRunning)
}
