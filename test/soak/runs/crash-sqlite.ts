/** Kills a process that writes to SQLite 200 times with −9: acknowledged writes are there. */

import { crashSqlite } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const { kills, acknowledged, lost } = await crashSqlite(times(200), random)
  return { counted: { kills, 'acknowledged writes': acknowledged }, lost }
}
