/**
 * The clock for Node under load. Deadlines are nearly always called off, and arming a timer of Node's own for each call
 * costs more than the rest of the call; here all deadlines of one length share a timer, armed for the earliest.
 *
 * Not for workerd: there a timer ends with the request that made it, and must not serve another.
 */

import type { Clock } from './core/clock.ts'

interface Entry {
  readonly at: number
  readonly then: () => void
}

/** Below this a timer of its own is the simpler thing: short waits are seldom called off. */
const shared = 1000
/** Node takes a longer wait for none at all. */
const longest = 2 ** 31 - 1

export function createNodeClock(): Clock {
  const queues = new Map<number, Set<Entry>>()

  /** Entries of one length are due in the order they came. */
  function arm(ms: number, entries: Set<Entry>): void {
    const [first] = entries
    if (!first) {
      queues.delete(ms)
      return
    }
    const wait = Math.min(Math.max(0, first.at - performance.now()), longest)
    setTimeout(() => fire(ms, entries), wait).unref()
  }
  function fire(ms: number, entries: Set<Entry>): void {
    const now = performance.now()
    for (const entry of entries) {
      if (entry.at > now) break
      entries.delete(entry)
      entry.then()
    }
    arm(ms, entries)
  }
  return {
    now: () => Date.now(),
    after(ms, then) {
      if (ms < shared) {
        const timer = setTimeout(then, ms)
        return () => clearTimeout(timer)
      }
      const entry = { at: performance.now() + ms, then }
      let entries = queues.get(ms)
      if (entries) entries.add(entry)
      else {
        entries = new Set([entry])
        queues.set(ms, entries)
        arm(ms, entries)
      }
      return () => entries.delete(entry)
    },
  }
}
