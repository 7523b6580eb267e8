/** How many tickets wait, for the badge of every open page: counted once a second at most, however many pages ask. */

import type { ApprovalsService } from '../../approvals/service.ts'
import type { Clock } from '../../core/clock.ts'

export interface PendingTickets {
  /** Of these tenants; of none in particular: all. */
  count(tenants: readonly string[]): Promise<number>
  /** Hears that something about tickets changed. */
  onChange(listener: () => void): () => void
}

const cacheMs = 1_000
const maxCached = 100

export function createPendingTickets(approvals: ApprovalsService | undefined, clock: Clock): PendingTickets {
  const counted = new Map<string, { readonly at: number; readonly count: Promise<number> }>()
  return {
    async count(tenants) {
      if (!approvals) return 0
      const whose = JSON.stringify(tenants)
      const known = counted.get(whose)
      if (known && clock.now() - known.at < cacheMs) return known.count
      if (counted.size >= maxCached) counted.clear()
      const count = approvals.pending(tenants.length === 0 ? undefined : tenants)
      counted.set(whose, { at: clock.now(), count })
      count.catch(() => counted.delete(whose))
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
