/** Cuts the power of a disk 200 times under a process that writes to SQLite: acknowledged writes are there. */

import { cutPowerOfSqlite } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random }) => {
  const report = await cutPowerOfSqlite(times(200), random)
  if (!report) throw new Error('This account may not mount a disk, which needs root')
  return { counted: { 'power cuts': report.kills, 'acknowledged writes': report.acknowledged }, lost: report.lost }
}
