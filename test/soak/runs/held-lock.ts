/**
 * Another process holds the store's SQLite write lock 10 times for 3 s: health checks and calls are answered in the
 * meantime.
 */

import { heldLock } from '../../stores/held-lock.ts'
import type { Soak } from '../soak.ts'

/** What the lock may add to a turn. SQLite's own waiting would add a second. */
const maxAddedMs = 50

export const run: Soak = async ({ times }) => {
  const holds = times(10)
  const { answered, rejected, checks, longestTurnMs, baselineTurnMs, slowestAnswerMs, lost } = await heldLock(
    holds,
    3000,
  )
  const counted = {
    'locks held': holds,
    'calls answered': answered,
    'calls refused': rejected,
    'health checks': checks,
    'ms longest turn': longestTurnMs,
    'ms longest turn without a lock': baselineTurnMs,
    'ms slowest answer': slowestAnswerMs,
  }
  const isTooLong = longestTurnMs > 2 * baselineTurnMs + maxAddedMs
  const tooLong = isTooLong ? [`A turn took ${longestTurnMs} ms, without a lock ${baselineTurnMs} ms`] : []
  return { counted, lost: [...lost, ...tooLong] }
}
