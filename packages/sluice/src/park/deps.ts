/** What all parked calls of one server share. */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { ProcessLease } from '../core/process-lease.ts'
import type { Seal } from '../core/seal.ts'
import type { Stop } from '../core/stop.ts'
import type { Store } from '../core/store.ts'
import type { Endings } from '../running-calls/endings.ts'
import type { LocalRuns } from '../running-calls/local-runs.ts'
import type { RunningCallStore } from '../running-calls/running-call-store.ts'
import type { ParkedCall } from './parked-call.ts'

export interface ParkDeps {
  readonly calls: RunningCallStore
  readonly runs: LocalRuns
  readonly lease: ProcessLease
  readonly seal: Seal
  readonly serverStore: Store
  readonly clock: Clock
  readonly logger: Logger
  newErrorId(): string
  /** How long a question may stay open. */
  readonly parkMs: number
  /** How long a call may take in all. */
  readonly totalMs: number
  /** The parked calls of this process, by id. */
  readonly local: Map<string, ParkedCall>
  readonly endings: Endings
  /** The calls that a shutdown waits for, and stops. */
  readonly running: Set<Stop>
}
