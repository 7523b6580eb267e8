/**
 * Gathers what came in during one turn of the loop, and lets it go on together when the turn is over.
 *
 * Between two requests of one turn lie system calls: each finds the processor's caches full of the other, and each answer
 * wakes a client that has gone to sleep since the last. Served one after the other, then written one after the other, the
 * same requests take half the time; and one that came alone waits for nothing.
 *
 * Where tools block the loop this is also the queue for it, and the only place that sees how long requests wait for it. So
 * a turn takes no more of them than take about `sliceMs`, by what the last ones took: between two turns new requests are
 * read, and refused at once if they would wait too long. Otherwise they would pile up in the kernel, where nobody counts.
 */

import { lagExemptRequests } from '../http/hysteresis.ts'

export interface TurnQueue {
  /** Calls `then` when its turn comes; `refuse` instead if it waited so long that serving it would only delay the rest. */
  add(then: () => void, refuse?: () => void): void
  /** Whether a request that comes now would wait for too long. */
  readonly late: boolean
}

export interface TurnQueueOptions {
  /** Milliseconds, going on while the loop is blocked. */
  readonly now?: () => number
  /** Calls `then` at the end of the turn of the loop. */
  readonly onTurnEnd?: (then: () => void) => void
}

/** What one turn may take. Shorter ones cost more system calls, longer ones make every client wait. */
const sliceMs = 10
/** A queue that was not empty for this long is not a burst that passes; it is over when it was empty for `calmMs`. */
const standingMs = 50
const calmMs = 1_000
/** How long a request may wait in a queue that stands, and in one that passes. */
const waitMs = { standing: 50, passing: 1_000 } as const
/** How much the last turn says about the next. */
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
  /** Milliseconds of the loop that one request takes, and what comes between two turns: reading, refusing, timers. */
  let [costMs, betweenMs] = [0, 0]
  /** The group that was let go last; `over` once it has run, while more wait. */
  let last: { size: number; at: number; over?: number } = { size: 0, at: 0 }
  /** Since when some are left over at the end of turns, and when they last were. */
  let standing: { readonly since: number; until: number } | undefined

  const limit = (at: number): number =>
    standing && standing.until - standing.since >= standingMs && at - standing.until < calmMs
      ? waitMs.standing
      : waitMs.passing
  /** At least as much as comes between two turns: otherwise a loop that refuses much would serve nobody. */
  const slice = (): number => Math.max(sliceMs, betweenMs)

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    onTurnEnd(end)
    // After the first and what it set off, and before anything else.
    onTurnEnd(measure)
  }
  function measure(): void {
    const at = now()
    if (last.size > 0) costMs += ((at - last.at) / last.size - costMs) * weight
    if (waiting.length > 0) last.over = at
  }
  function end(): void {
    scheduled = false
    const at = now()
    if (last.over !== undefined) betweenMs += (at - last.over - betweenMs) * weight
    const due = waiting
    waiting = []
    const size = costMs > 0 ? Math.max(1, Math.floor(slice() / costMs)) : due.length
    const longest = limit(at)
    let [taken, next] = [0, 0]
    for (; next < due.length && taken < size; next++) {
      const waiter = due[next]
      if (waiter?.refuse && at - waiter.at > longest && due.length - next > lagExemptRequests) waiter.refuse()
      else {
        taken++
        waiter?.then()
      }
    }
    last = { size: taken, at }
    if (next === due.length) {
      // A burst that passed, unless it stood for so long that the next is the same one.
      if (limit(at) === waitMs.passing) standing = undefined
      return
    }
    // In front of what was added meanwhile.
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
