/**
 * Releases claims whose write got no response. Such a claim may be in the store all the same, or arrive later. Nothing
 * ran under it, so it is released as soon as the store responds. Otherwise work that never began would be in doubt.
 */

import type { Clock } from '../core/clock.ts'
import type { IdempotencyRecord } from '../core/idempotency-record.ts'
import { recordToText } from '../core/idempotency-record.ts'
import type { Key, Store } from '../core/store.ts'

export interface ClaimReleaser {
  /** Returns at once; the release happens in the background. */
  schedule(key: Key, claim: string): void
  close(): void
}

const freeRecord: IdempotencyRecord = { state: 'free' }
/** The first delay. Each further one is twice as long, up to a minute; together a quarter of an hour. */
const firstDelayMs = 1_000
const maxDelayMs = 60_000
const maxTries = 20
/** While the store is unavailable, every call with a key comes here. Beyond this number, claims stay in doubt. */
const maxWaiting = 1_000

export function createClaimReleaser(store: Store, clock: Clock, keepMs: number): ClaimReleaser {
  const waiting = new Set<() => void>()

  function after(ms: number, then: () => void): void {
    const cancelTimer = clock.after(ms, () => {
      waiting.delete(cancelTimer)
      then()
    })
    waiting.add(cancelTimer)
  }
  /** Returns whether the claim needs no further attempt. A claim that is not in the store yet may still arrive. */
  async function isReleased(key: Key, claim: string): Promise<boolean> {
    try {
      if (await store.swap(key, claim, recordToText(freeRecord), keepMs)) return true
      return (await store.get(key)) !== undefined
    } catch {
      return false
    }
  }
  async function attempt(key: Key, claim: string, tries: number): Promise<void> {
    if ((await isReleased(key, claim)) || tries >= maxTries) return
    schedule(Math.min(firstDelayMs * 2 ** tries, maxDelayMs), key, claim, tries + 1)
  }
  function schedule(ms: number, key: Key, claim: string, tries: number): void {
    // A claim that cannot be released stays in doubt, which is safe.
    after(ms, () => {
      attempt(key, claim, tries).catch(() => {})
    })
  }
  return {
    schedule(key, claim) {
      if (waiting.size < maxWaiting) schedule(firstDelayMs, key, claim, 1)
    },
    close() {
      for (const cancelTimer of waiting) cancelTimer()
      waiting.clear()
    },
  }
}
