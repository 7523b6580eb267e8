/** 200 times kill −9 of a process that writes to SQLite: what it had acknowledged is there. */

import { crashSqlite } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const { kills, acknowledged, lost } = await crashSqlite(times(200), random)
  return { counted: { kills, 'acknowledged writes': acknowledged }, lost }
}
