/**
 * Work that is asked for often and does everything anew each time. It runs at once after a pause. After that it waits four
 * times as long as it took, so that a thousand upstreams that become known one by one do not take the event loop.
 */

import type { Clock } from '../core/clock.ts'
import { monotonicNow } from '../core/clock.ts'

export interface PacedWork {
  /** Runs the work now or soon. Requests that come meanwhile share one run. */
  request(): void
  run(): void
  close(): void
}

const pauses = 4

export function createPacedWork(clock: Clock, work: () => void): PacedWork {
  let notBefore = Number.NEGATIVE_INFINITY
  let cancelTimer: (() => void) | undefined
  function run(): void {
    cancelTimer?.()
    cancelTimer = undefined
    const from = monotonicNow(clock)
    work()
    const now = monotonicNow(clock)
    notBefore = now + pauses * (now - from)
  }
  return {
    request() {
      if (cancelTimer) return
      const waitMs = notBefore - monotonicNow(clock)
      if (waitMs > 0) cancelTimer = clock.after(waitMs, run)
      else run()
    },
    run,
    close: () => cancelTimer?.(),
  }
}
