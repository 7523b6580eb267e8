/**
 * 20 times kill −9 of PostgreSQL under writes, 200 times of a process that writes to it, and 200 times of one that works
 * under idempotency keys: what was acknowledged is there, and nothing runs twice.
 */

import { killAgainAndAgain } from '../../once/workers.ts'
import { startPostgres } from '../../services/postgres.ts'
import { crashPostgres, crashPostgresWriter } from '../../stores/crash.ts'
import type { Soak } from '../soak.ts'

/** One set of keys would soon be all done or all in doubt. */
const killsPerSet = 10

export const run: Soak = async ({ times, random, say }) => {
  const server = await crashPostgres(times(20), random)
  say(`crash-postgres: ${server.kills} kills of the server, ${server.lost.length} lost`)
  const writer = await crashPostgresWriter(times(200), random)
  say(`crash-postgres: ${writer.kills} kills of the writer, ${writer.lost.length} lost`)
  const lost = [...server.lost, ...writer.lost]
  let [kills, answered, doubtful] = [0, 0, 0]
  const shared = await startPostgres()
  try {
    for (let left = times(200); left > 0; left -= killsPerSet) {
      const report = await killAgainAndAgain(Math.min(left, killsPerSet), 100, random, shared.url)
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
