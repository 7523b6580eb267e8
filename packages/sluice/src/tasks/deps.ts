/** What all of the tasks of one server share, with the server and the layers inside the tasks layer. */

import type { Handler } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { TaskHost } from '../core/plugin.ts'
import type { RunningCallDeps } from '../running-calls/running-calls.ts'
import type { PollIntervals } from './wire.ts'

export interface InstalledTasks extends RunningCallDeps {
  readonly clock: Clock
  /** The clock's timers, for those that short tasks cancel within their turn. */
  readonly after: Clock['after']
  readonly logger: Logger
  newErrorId(): string
  readonly ttlMs: number
  readonly intervals: PollIntervals
  /** Keeps the runtime alive until the work has ended; `undefined` if it stays alive by itself. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined
  readonly host: TaskHost
  readonly next: Handler
  /** Shows a run to the observers. `ready` of its call waits for the end of the work. */
  readonly observed: Handler
}
