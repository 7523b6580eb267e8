/** The deadline of operations on one server, without a timer for each of them. */

import type { Clock } from '../core/clock.ts'

export interface Deadline {
  /** Begins an operation; the returned function ends it. */
  begin(): () => void
}

/** The time is counted in ticks: a tool that blocks the event loop for seconds must not cost a healthy connection. */
const ticksToDeadline = 5

/** Calls `passed` while an operation is older than `ms`. Ticks only while there are operations. */
export function createDeadline(clock: Clock, ms: number, passed: () => void): Deadline {
  const running = new Set<{ readonly since: number }>()
  let ticks = 0
  let isTicking = false
  function tick(): void {
    ticks++
    const [oldest] = running
    isTicking = oldest !== undefined
    if (!oldest) return
    if (ticks - oldest.since >= ticksToDeadline) passed()
    clock.after(ms / ticksToDeadline, tick)
  }
  return {
    begin() {
      const operation = { since: ticks }
      running.add(operation)
      if (!isTicking) {
        isTicking = true
        clock.after(ms / ticksToDeadline, tick)
      }
      return () => running.delete(operation)
    },
  }
}
