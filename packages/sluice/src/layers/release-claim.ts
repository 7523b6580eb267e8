/**
 * A claim whose write got no answer may stand in the store all the same, or get there later. Nothing ran under it, so it
 * is given back as soon as the store answers: left there, it would put work in doubt that never began.
 */

import type { Clock } from '../core/clock.ts'
import type { IdempotencyRecord } from '../core/idempotency-record.ts'
import { recordToText } from '../core/idempotency-record.ts'
import type { Key, Store } from '../core/store.ts'

export interface ClaimReleaser {
  /** Nobody waits for it. */
  schedule(place: Key, claim: string): void
  close(): void
}

const freeRecord: IdempotencyRecord = { state: 'free' }
/** The first wait; each is twice the one before, up to a minute. Together a quarter of an hour. */
const firstDelayMs = 1_000
const maxDelayMs = 60_000
const maxTries = 20
/** While a store is away every call with a key comes by here: past so many, claims stay in doubt. */
const maxWaiting = 1_000

export function createClaimReleaser(store: Store, clock: Clock, keepMs: number): ClaimReleaser {
  const waiting = new Set<() => void>()

  function after(ms: number, then: () => void): void {
    const callOff = clock.after(ms, () => {
      waiting.delete(callOff)
      then()
    })
    waiting.add(callOff)
  }
  /** Whether there is nothing left to do. A claim that is not there yet may still be on its way. */
  async function isOver(place: Key, claim: string): Promise<boolean> {
    try {
      if (await store.swap(place, claim, recordToText(freeRecord), keepMs)) return true
      return (await store.get(place)) !== undefined
    } catch {
      return false
    }
  }
  async function attempt(place: Key, claim: string, tries: number): Promise<void> {
    if ((await isOver(place, claim)) || tries >= maxTries) return
    schedule(Math.min(firstDelayMs * 2 ** tries, maxDelayMs), place, claim, tries + 1)
  }
  function schedule(ms: number, place: Key, claim: string, tries: number): void {
    // A claim that cannot be given back stays in doubt, which is the safe side.
    after(ms, () => {
      attempt(place, claim, tries).catch(() => {})
    })
  }
  return {
    schedule(place, claim) {
      if (waiting.size < maxWaiting) schedule(firstDelayMs, place, claim, 1)
    },
    close() {
      for (const callOff of waiting) callOff()
      waiting.clear()
    },
  }
}
