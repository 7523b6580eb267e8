/** What all of the tasks of one server share. */

import type { Handler } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { TaskHost } from '../core/plugin.ts'
import type { ProcessLease } from '../core/process-lease.ts'
import type { RunningCallStore } from '../running-calls/running-call-store.ts'
import type { LocalRuns } from './local-runs.ts'
import type { PollIntervals } from './wire.ts'

export interface TaskDeps {
  readonly calls: RunningCallStore
  readonly runs: LocalRuns
  readonly lease: ProcessLease
  readonly clock: Clock
  readonly logger: Logger
  newErrorId(): string
  readonly ttlMs: number
  readonly intervals: PollIntervals
  /** Keeps the runtime alive until the work has ended; `undefined` if it stays alive by itself. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined
  readonly endings: Endings
}

/** The server that the tasks layer was installed in, and the layers inside it. */
export interface InstalledTasks extends TaskDeps {
  readonly host: TaskHost
  readonly next: Handler
}

/** Ends of tasks that are being written. A server that closes waits for them. */
export interface Endings {
  add(ending: Promise<unknown>): void
  /** Resolves after `ms`, or at once when the server closes. False from then on: there will be no further try. */
  pause(ms: number): Promise<boolean>
  close(): Promise<void>
}

export function createEndings(clock: Clock): Endings {
  const open = new Set<Promise<unknown>>()
  const paused = new Set<() => void>()
  let closed = false
  return {
    add(ending) {
      open.add(ending)
      const end = (): void => {
        open.delete(ending)
      }
      ending.then(end, end)
    },
    async pause(ms) {
      if (closed) return false
      await new Promise<void>((resolve) => {
        const cancelTimer = clock.after(ms, resume)
        function resume(): void {
          cancelTimer()
          paused.delete(resume)
          resolve()
        }
        paused.add(resume)
      })
      return true
    },
    async close() {
      closed = true
      for (const resume of paused) resume()
      await Promise.allSettled(open)
    },
  }
}
