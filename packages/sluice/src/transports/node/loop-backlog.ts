/**
 * Estimates how long a new request would wait for the event loop: the requests in flight, times the loop's time for
 * one. This sees work that the turn queue does not, because it begins after a tool has waited for something else.
 *
 * The lag of the loop is not a sign of overload, because another program on the same core causes it too. Requests that
 * wait for something else are not a backlog. When the loop is idle all of them do, so only later ones count.
 */

import type { AdmittedRequests } from '../http/pressure.ts'

export interface LoopSample extends AdmittedRequests {
  /** How long the loop was busy and idle since the start, in milliseconds. */
  readonly busyMs: number
  readonly idleMs: number
}

export interface LoopBacklog {
  sample(sample: LoopSample): void
  /** Returns how long one more request would wait, beside so many in flight. */
  waitMs(running: number): number
}

/** A loop that was idle for this part of a sample has no backlog. */
const idlePart = 0.05
/** The lowest of so many samples counts, so that a single slow turn or a pause of the process does not. */
const samples = 2

export function createLoopBacklog(): LoopBacklog {
  let last: LoopSample = { busyMs: 0, idleMs: 0, running: 0, finished: 0 }
  /** The values when a request last finished, or none was in flight. */
  let counted = last
  let idle = true
  /** The requests in flight that wait for something else. */
  let waiting = 0
  /** The loop's milliseconds for one request, in the last samples. */
  let costs: readonly number[] = []
  let costMs = 0

  return {
    sample(now) {
      const idleMs = now.idleMs - last.idleMs
      idle = idleMs > (idleMs + now.busyMs - last.busyMs) * idlePart
      waiting = idle ? now.running : Math.min(waiting, now.running)
      const finished = now.finished - counted.finished
      if (finished > 0) {
        costs = [...costs, (now.busyMs - counted.busyMs) / finished].slice(-samples)
        costMs = costs.length === samples ? Math.min(...costs) : 0
      }
      // What the loop does while no request is in flight is not the work of one.
      if (finished > 0 || now.running === 0) counted = now
      last = now
    },
    waitMs: (running) => (idle ? 0 : (running - waiting) * costMs),
  }
}
