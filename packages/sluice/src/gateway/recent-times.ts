/** How long the last calls of one upstream took, from the connection to its answer. Fixed in size. */

import type { Clock } from '../core/clock.ts'
import { monotonicNow } from '../core/clock.ts'

export interface RecentTimes {
  now(): number
  record(from: number): void
  /** Returns the median and the 95th percentile in milliseconds; `undefined` before the first call. */
  read(): { readonly p50: number; readonly p95: number } | undefined
}

const maxTimes = 100

export function createRecentTimes(clock: Clock): RecentTimes {
  const times: number[] = []
  let next = 0
  const now = (): number => monotonicNow(clock)
  return {
    now,
    record(from) {
      times[next] = now() - from
      next = (next + 1) % maxTimes
    },
    read() {
      if (times.length === 0) return undefined
      const sorted = times.toSorted((one, other) => one - other)
      const at = (share: number): number =>
        Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 100) / 100
      return { p50: at(0.5), p95: at(0.95) }
    },
  }
}
