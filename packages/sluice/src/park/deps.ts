/** What all parked calls of one server share. */

import type { Clock } from '../core/clock.ts'
import type { InFlight } from '../core/in-flight.ts'
import type { Logger } from '../core/log.ts'
import type { Seal } from '../core/seal.ts'
import type { Stop } from '../core/stop.ts'
import type { Store } from '../core/store.ts'
import type { RunningCallDeps } from '../running-calls/running-calls.ts'
import type { ParkedCall } from './parked-call.ts'

export interface ParkDeps extends RunningCallDeps {
  readonly seal: Seal
  readonly serverStore: Store
  readonly clock: Clock
  readonly logger: Logger
  newErrorId(): string
  /** How long a question may stay open. */
  readonly parkMs: number
  /** How long a call may take in all. */
  readonly totalMs: number
  readonly local: Map<string, ParkedCall>
  /** The calls that a shutdown waits for, and stops. */
  readonly running: InFlight<Stop>
}
