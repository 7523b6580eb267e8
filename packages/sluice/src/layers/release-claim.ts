/**
 * Repeats writes of claims that got no response from the store, in the background.
 *
 * A claim whose write got no response may be in the store all the same, or arrive later. Nothing ran under it, so it is
 * released. Otherwise work that never began would be in doubt. An outcome that could not be written is written later.
 * Otherwise the call would seem to run as long as its process does.
 */

import type { Clock } from '../core/clock.ts'
import type { IdempotencyRecord } from '../core/idempotency-record.ts'
import { recordToText } from '../core/idempotency-record.ts'
import type { Key, Store } from '../core/store.ts'

export interface ClaimReleaser {
  /** Releases a claim under which nothing ran. */
  schedule(key: Key, claim: string): void
  /** Writes how the work under a claim ended, then calls `written`. */
  scheduleOutcome(key: Key, claim: string, outcome: string, ttlMs: number, written: () => void): void
  /** Tries outcomes a last time, then ends the timers. */
  close(): Promise<void>
}

const freeRecord: IdempotencyRecord = { state: 'free' }
/** The first delay. Each further one is twice as long, up to a minute. */
const firstDelayMs = 1_000
const maxDelayMs = 60_000
/** A quarter of an hour in all. A claim that is not released by then stays in doubt, which is the safe side. */
const maxTries = 20
/** While the store is unavailable, every call with a key comes here. Beyond this number, claims stay in doubt. */
const maxWaiting = 1_000

/** Returns whether there is nothing left to do. Rejects if the store is unavailable. */
type Attempt = () => Promise<boolean>

export function createClaimReleaser(store: Store, clock: Clock, keepMs: number): ClaimReleaser {
  const waiting = new Map<() => void, Attempt | undefined>()

  function schedule(attempt: Attempt, tries: number, lastTry: number, isOutcome: boolean): void {
    const cancelTimer = clock.after(Math.min(firstDelayMs * 2 ** (tries - 1), maxDelayMs), () => {
      waiting.delete(cancelTimer)
      attempt()
        .catch(() => false)
        .then((isOver) => {
          if (!isOver && tries < lastTry) schedule(attempt, tries + 1, lastTry, isOutcome)
        })
        .catch(() => {})
    })
    waiting.set(cancelTimer, isOutcome ? attempt : undefined)
  }
  return {
    schedule(key, claim) {
      if (waiting.size >= maxWaiting) return
      // A claim that is not in the store yet may still arrive.
      const release = async (): Promise<boolean> =>
        (await store.swap(key, claim, recordToText(freeRecord), keepMs)) || (await store.get(key)) !== undefined
      schedule(release, 1, maxTries, false)
    },
    scheduleOutcome(key, claim, outcome, ttlMs, written) {
      async function write(): Promise<boolean> {
        // False if an operator has decided meanwhile, and that decision stands.
        await store.swap(key, claim, outcome, ttlMs)
        written()
        return true
      }
      schedule(write, 1, Number.POSITIVE_INFINITY, true)
    },
    async close() {
      const outcomes = [...waiting.values()].filter((attempt) => attempt !== undefined)
      for (const cancelTimer of waiting.keys()) cancelTimer()
      waiting.clear()
      await Promise.allSettled(outcomes.map((attempt) => attempt()))
    },
  }
}
