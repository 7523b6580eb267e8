/**
 * Writes of claims that the store did not answer, tried again in the background.
 *
 * A claim whose write got no answer may be in the store all the same, or get there later. Nothing ran under it, so it is
 * released: otherwise work that never began would be in doubt. An outcome that could not be written is written later:
 * otherwise the call would seem to run for as long as its process does.
 */

import type { Clock } from '../core/clock.ts'
import type { IdempotencyRecord } from '../core/idempotency-record.ts'
import { recordToText } from '../core/idempotency-record.ts'
import type { Key, Store } from '../core/store.ts'

export interface ClaimReleaser {
  /** Releases a claim under which nothing ran. */
  schedule(place: Key, claim: string): void
  /** Writes how the work under a claim ended, then calls `written`. */
  scheduleOutcome(place: Key, claim: string, outcome: string, forMs: number, written: () => void): void
  /** Tries outcomes a last time, then ends the timers. */
  close(): Promise<void>
}

const freeRecord: IdempotencyRecord = { state: 'free' }
/** The first wait; each is twice the one before, up to a minute. */
const firstDelayMs = 1_000
const maxDelayMs = 60_000
/** A quarter of an hour in all. A claim that is not released by then stays in doubt, which is the safe side. */
const maxTries = 20
/** While the store is unavailable every call with a key is queued here. Beyond this many, claims stay in doubt. */
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
    schedule(place, claim) {
      if (waiting.size >= maxWaiting) return
      // A claim that is not there yet may still be on its way.
      const release = async (): Promise<boolean> =>
        (await store.swap(place, claim, recordToText(freeRecord), keepMs)) || (await store.get(place)) !== undefined
      schedule(release, 1, maxTries, false)
    },
    scheduleOutcome(place, claim, outcome, forMs, written) {
      async function write(): Promise<boolean> {
        // False if an operator has decided meanwhile: that stands.
        await store.swap(place, claim, outcome, forMs)
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
