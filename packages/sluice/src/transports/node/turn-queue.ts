/**
 * Collects the requests that arrive during one turn of the event loop, and serves them together at its end.
 *
 * Otherwise system calls between two requests would fill the processor's caches, and each answer would wake a client
 * that sleeps again. Requests that are all served and then all written take half the time. A single request does not
 * wait.
 *
 * If tools block the event loop, this is also its queue, and the only place that sees how long requests wait. So a turn
 * serves only as many as take about `sliceMs`, judged by the last ones. Between two turns new requests are read, and
 * during an overload refused at once if they would wait too long. Otherwise they would pile up, uncounted, in the
 * kernel.
 *
 * An overload begins when the queue is longer than `maxLoopWaitMs`. A slow turn, a core that other programs use and
 * clients that wait for their answers do not make it so long. During an overload some requests must be refused anyway,
 * and a short queue serves as many as a long one. So the limit is then `overloadWaitMs`.
 */

import { loopExemptRequests, maxLoopWaitMs } from '../http/pressure.ts'

export interface TurnQueue {
  /**
   * Calls `then` when its turn comes. Calls `refuse` instead if it waited so long that serving it would only delay the
   * rest.
   */
  add(then: () => void, refuse?: () => void): void
  /**
   * Whether a request that arrives now must be refused, because it would wait too long. `backlogMs` is the work of
   * requests that have left this queue.
   */
  refuses(backlogMs: number): boolean
}

export interface TurnQueueOptions {
  /** A clock in milliseconds that advances while the event loop is blocked. */
  readonly now?: () => number
  /** Calls `then` at the end of the event loop's turn. */
  readonly onTurnEnd?: (then: () => void) => void
}

/** The length of a turn. Shorter turns cost more system calls, longer ones make every client wait. */
const sliceMs = 10
/** How long the queue must be too long, so that the time of a single slow turn is forgotten before. */
const standingMs = 30
/** How long a request may wait during an overload. */
const overloadWaitMs = 40
/**
 * How long an overload lasts. Refused clients that try again at once would prolong it for ever, so it must begin anew.
 * For a while it does so earlier, because a lasting overload should delay few requests.
 */
const overloadMs = 5_000
const recentMs = 10_000
const recentWaitMs = 250
/** The weight of the last turn in the moving averages. */
const weight = 0.3

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
  /** Since when the queue is too long. */
  let tooLongSince: number | undefined
  /** The end of the last overload. */
  let overloadUntil = Number.NEGATIVE_INFINITY

  /** At least as long as the time between two turns. Otherwise a loop that refuses much would serve no request. */
  const slice = (): number => Math.max(sliceMs, betweenMs)
  /** How long a request that arrives now would wait. */
  const expectedMs = (): number => waiting.length * costMs * (1 + betweenMs / slice())
  /** From which wait on an overload begins. */
  const limit = (at: number): number => (at - overloadUntil < recentMs ? recentWaitMs : maxLoopWaitMs)

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
    const isOverloaded = at < overloadUntil
    let [taken, next] = [0, 0]
    for (; next < due.length && taken < size; next++) {
      const waiter = due[next]
      if (!waiter) continue
      const isLate = isOverloaded && at - waiter.at > overloadWaitMs && due.length - next > loopExemptRequests
      if (isLate && waiter.refuse) waiter.refuse()
      else {
        taken++
        waiter.then()
      }
    }
    last = { size: taken, at }
    // Before the requests that were added meanwhile.
    if (next < due.length) waiting = [...due.slice(next), ...waiting]
    if (expectedMs() <= limit(at)) tooLongSince = undefined
    else tooLongSince ??= at
    if (tooLongSince !== undefined && at - tooLongSince >= standingMs) overloadUntil = at + overloadMs
    if (next < due.length) schedule()
  }
  return {
    add(then, refuse) {
      waiting.push({ then, refuse, at: now() })
      schedule()
    },
    refuses(backlogMs) {
      const at = now()
      if (backlogMs > limit(at)) overloadUntil = at + overloadMs
      return at < overloadUntil && Math.max(backlogMs, expectedMs()) > overloadWaitMs
    },
  }
}

/** The queue of all servers in this process, because they share its event loop. */
export const loopQueue: TurnQueue = createTurnQueue()
