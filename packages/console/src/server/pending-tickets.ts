/** Counts pending tickets for the badge of every open page, at most once a second for all pages together. */

import type { Clock } from 'sluice'
import type { ApprovalsService } from 'sluice/approvals'

export interface PendingTickets {
  /** Counts the tickets of these tenants. An empty list means all. */
  count(tenants: readonly string[]): Promise<number>
  /** Calls the listener when a ticket changes. */
  onChange(listener: () => void): () => void
}

const cacheMs = 1_000
const maxCached = 100

export function createPendingTickets(approvals: ApprovalsService | undefined, clock: Clock): PendingTickets {
  const counted = new Map<string, { readonly at: number; readonly count: Promise<number> }>()
  return {
    async count(tenants) {
      if (!approvals) return 0
      const key = JSON.stringify(tenants)
      const known = counted.get(key)
      if (known && clock.now() - known.at < cacheMs) return known.count
      if (counted.size >= maxCached) counted.clear()
      const count = approvals.pending(tenants.length === 0 ? undefined : tenants)
      counted.set(key, { at: clock.now(), count })
      count.catch(() => counted.delete(key))
      return count
    },
    onChange(listener) {
      return (
        approvals?.watch(() => {
          counted.clear()
          listener()
        }) ?? (() => {})
      )
    },
  }
}
