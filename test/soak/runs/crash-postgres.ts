/**
 * 20 times kill −9 of PostgreSQL under writes, 200 times of a process that writes to it, and 200 times of one that works
 * under idempotency keys: what was acknowledged is there, and nothing runs twice.
 */

import { killRepeatedly } from '../../kit/processes/idempotency-workers.ts'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { crashPostgres, crashPostgresWriter } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

/** One set of keys would soon be all done or all in doubt. */
const killsPerSet = 10

export const run: Soak = async ({ times, random, progress }) => {
  const server = await crashPostgres(times(20), random)
  progress(`crash-postgres: ${server.kills} kills of the server, ${server.lost.length} lost`)
  const writer = await crashPostgresWriter(times(200), random)
  progress(`crash-postgres: ${writer.kills} kills of the writer, ${writer.lost.length} lost`)
  const lost = [...server.lost, ...writer.lost]
  let [kills, answered, doubtful] = [0, 0, 0]
  const shared = await startPostgres()
  try {
    for (let left = times(200); left > 0; left -= killsPerSet) {
      const report = await killRepeatedly(Math.min(left, killsPerSet), 100, random, shared.url)
      kills += report.kills
      answered += report.acknowledged
      doubtful += report.doubtful
      lost.push(...report.lost)
    }
  } finally {
    await shared.stop()
  }
  return {
    counted: {
      'kills of the server': server.kills,
      'kills of the writer': writer.kills,
      'acknowledged writes': server.acknowledged + writer.acknowledged,
      'kills of the worker': kills,
      'keys answered': answered,
      'keys in doubt': doubtful,
    },
    lost,
  }
}
