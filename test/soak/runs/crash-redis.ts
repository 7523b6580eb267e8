/** Kills a Redis that syncs its append-only file on every write 20 times with −9: acknowledged writes are there. */

import { crashRedis } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const { kills, acknowledged, lost } = await crashRedis(times(20), random)
  return { counted: { kills, 'acknowledged writes': acknowledged }, lost }
}
