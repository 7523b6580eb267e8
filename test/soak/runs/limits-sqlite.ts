/** 2000 random schedules on buckets that several processes share through one SQLite file. */

import { exactOnSqlite } from '../../limits/exact.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const { lost, ...counted } = await exactOnSqlite(times(2_000), 4, random)
  return { counted, lost }
}
