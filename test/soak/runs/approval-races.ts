/**
 * 200 approved tickets, each retried 50 times in parallel from each of 4 processes, on SQLite, Redis and PostgreSQL:
 * 200 executions.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { race, raceInMemory } from '../../approvals/race.ts'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { startRedis } from '../../kit/processes/redis.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, progress }) => {
  const [redis, postgres] = [await startRedis(), await startPostgres(['fsync=on'])]
  const size = { tickets: times(200), retries: 50, processes: 4 }
  const counted: { [what: string]: number } = {}
  const lost: string[] = []
  for (const store of ['memory', 'sqlite', redis.url, postgres.url]) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-race-'))
    const [name = store] = /^[a-z]+/.exec(store) ?? []
    const raced = store === 'memory' ? await raceInMemory({ folder, ...size }) : await race({ store, folder, ...size })
    counted[`executions on ${name}`] = raced.executions
    counted[`calls on ${name}`] = raced.calls
    lost.push(...raced.lost.map((each) => `${name}: ${each}`))
    if (raced.executions !== size.tickets)
      lost.push(`${name}: ${raced.executions} executions of ${size.tickets} tickets`)
    progress(`approval-races: ${name} ${JSON.stringify(raced.counts)}`)
    rmSync(folder, { recursive: true, force: true })
  }
  await Promise.all([redis.stop(), postgres.stop()])
  return { counted, lost }
}
