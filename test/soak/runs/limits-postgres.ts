/** 10 000 random schedules on buckets that several processes share through PostgreSQL: never more than a bucket allows. */

import { exactOnPostgres } from '../../limits/exact.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const { lost, ...counted } = await exactOnPostgres(times(10_000), 4, random)
  return { counted, lost }
}
