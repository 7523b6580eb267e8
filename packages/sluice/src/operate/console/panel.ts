/** All that the console shows of the servers it watches, in one place: what handlers and feeds read. */

import type { Desk } from '../../approvals/desk.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { Count as Counted, Defined, Use } from '../../core/part.ts'
import type { Store } from '../../core/store.ts'
import type { ApiKeyAdmin } from '../../layers/identities/api-keys.ts'
import type { Count } from './api.ts'
import type { Live } from './live.ts'

/** One server, as its part knows it. */
export interface Watched {
  readonly name: string
  definition(): Defined
  /** Numbers its other parts keep. */
  readonly counts: readonly Counted[]
  readonly uses: readonly Use[]
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Sign the checkpoints of the audit. */
  readonly secrets: () => readonly string[]
}

export interface Panel {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: Live
  readonly keys: ApiKeyAdmin
  /** Left out where no server has approvals. */
  readonly desk: Desk | undefined
  /** In the order they came. */
  readonly servers: readonly Watched[]
  /** Tickets that wait and that an operator of these tenants may see. */
  pending(tenants: readonly string[]): Promise<number>
  watchTickets(hear: () => void): () => void
  /** Puts what an operator did into the audit of a tenant. */
  record(tenant: string, kind: string, fields: { readonly [field: string]: unknown }): void
  /** Numbers of whole servers: nothing for who may see some tenants alone. */
  counts(tenants: readonly string[]): readonly Count[]
}

export const countsOf = (servers: readonly Watched[]): readonly Count[] =>
  servers.flatMap(({ name: server, counts }) =>
    counts.map(({ name, help, read }) => ({ server, name, help, value: read() })),
  )
