/** Processes that work under idempotency keys, killed 200 times: no effect twice, no acknowledged answer lost. */

import { killRepeatedly } from '../../kit/processes/idempotency-workers.ts'
import type { Soak } from '../soak.ts'

/** A single set of keys would soon be all done or all in doubt. */
const killsPerSet = 10

export const run: Soak = async ({ times, random }) => {
  const lost: string[] = []
  let [kills, acknowledged, doubtful] = [0, 0, 0]
  for (let left = times(200); left > 0; left -= killsPerSet) {
    const report = await killRepeatedly(Math.min(left, killsPerSet), 100, random)
    kills += report.kills
    acknowledged += report.acknowledged
    doubtful += report.doubtful
    lost.push(...report.lost)
  }
  return { counted: { kills, 'keys answered': acknowledged, 'keys in doubt': doubtful }, lost }
}
