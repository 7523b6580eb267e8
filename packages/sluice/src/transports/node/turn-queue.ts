/**
 * Collects the requests that arrive during one turn of the event loop, and serves them together at its end.
 *
 * Otherwise system calls between two requests would fill the processor's caches, and each answer would wake a client
 * that sleeps again. Requests that are all served and then all written take half the time. A single request does not
 * wait.
 *
 * If tools block the event loop, this is also its queue, and the only place that sees how long requests wait. So a turn
 * serves only as many as take about `sliceMs`, judged by the last ones. Between two turns new requests are read, and
 * refused at once if they would wait too long. Otherwise they would pile up, uncounted, in the kernel.
 */

import { lagExemptRequests } from '../http/hysteresis.ts'

export interface TurnQueue {
  /**
   * Calls `then` when its turn comes. Calls `refuse` instead if it waited so long that serving it would only delay the
   * rest.
   */
  add(then: () => void, refuse?: () => void): void
  /** Whether a request that arrives now would wait too long. */
  readonly late: boolean
}

export interface TurnQueueOptions {
  /** A clock in milliseconds that advances while the event loop is blocked. */
  readonly now?: () => number
  /** Calls `then` at the end of the event loop's turn. */
  readonly onTurnEnd?: (then: () => void) => void
}

/** The length of a turn. Shorter turns cost more system calls, longer ones make every client wait. */
const sliceMs = 10
/**
 * A queue that was not empty for this long is a standing queue, not a burst. It ends when it was empty for `calmMs`.
 */
const standingMs = 50
const calmMs = 1_000
/** How long a request may wait in a standing queue, and in a burst. */
const waitMs = { standing: 50, burst: 1_000 } as const
/** The weight of the last turn in the moving averages. */
const weight = 0.2

interface Waiter {
  readonly then: () => void
  readonly refuse: (() => void) | undefined
  readonly at: number
}

export function createTurnQueue({
  now = () => performance.now(),
  onTurnEnd = setImmediate,
}: TurnQueueOptions = {}): TurnQueue {
  let waiting: Waiter[] = []
  let scheduled = false
  /** The milliseconds that one request takes, and those between two turns: reading, refusing, timers. */
  let [costMs, betweenMs] = [0, 0]
  /** The group that was served last. `endedAt` is set when it has run while more requests wait. */
  let last: { size: number; at: number; endedAt?: number } = { size: 0, at: 0 }
  /** Since when requests remain at the end of turns, and when they last did. */
  let standing: { readonly since: number; until: number } | undefined

  const limit = (at: number): number =>
    standing && standing.until - standing.since >= standingMs && at - standing.until < calmMs
      ? waitMs.standing
      : waitMs.burst
  /** At least as long as the time between two turns. Otherwise a loop that refuses much would serve no request. */
  const slice = (): number => Math.max(sliceMs, betweenMs)

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    onTurnEnd(end)
    // Runs after `end` and the work it started, and before anything else.
    onTurnEnd(measure)
  }
  function measure(): void {
    const at = now()
    if (last.size > 0) costMs += ((at - last.at) / last.size - costMs) * weight
    if (waiting.length > 0) last.endedAt = at
  }
  function end(): void {
    scheduled = false
    const at = now()
    if (last.endedAt !== undefined) betweenMs += (at - last.endedAt - betweenMs) * weight
    const due = waiting
    waiting = []
    const size = costMs > 0 ? Math.max(1, Math.floor(slice() / costMs)) : due.length
    const maxWaitMs = limit(at)
    let [taken, next] = [0, 0]
    for (; next < due.length && taken < size; next++) {
      const waiter = due[next]
      if (waiter?.refuse && at - waiter.at > maxWaitMs && due.length - next > lagExemptRequests) waiter.refuse()
      else {
        taken++
        waiter?.then()
      }
    }
    last = { size: taken, at }
    if (next === due.length) {
      // The burst has passed, unless it stood for so long that the next one is the same.
      if (limit(at) === waitMs.burst) standing = undefined
      return
    }
    // Before the requests that were added meanwhile.
    waiting = [...due.slice(next), ...waiting]
    standing ??= { since: at, until: at }
    standing.until = at
    schedule()
  }
  return {
    add(then, refuse) {
      waiting.push({ then, refuse, at: now() })
      schedule()
    },
    get late() {
      if (waiting.length === 0) return false
      return waiting.length * costMs * (1 + betweenMs / slice()) > limit(now())
    },
  }
}

/** The queue of all servers in this process, because they share its event loop. */
export const loopQueue: TurnQueue = createTurnQueue()
