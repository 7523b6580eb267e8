/**
 * Two tenants on every transport, with the same ids, keys and texts: a million answers and no byte of the other tenant.
 * Most run in memory, which is fastest; the others show that a store separates tenants too.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import { hammer } from '../../hostile/isolation-load.ts'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { startRedis } from '../../kit/processes/redis.ts'
import { createTwoTenants } from '../../kit/servers/two-tenants.fixture.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, progress }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-isolation-'))
  const server = await startRedis(['--appendfsync', 'everysec'])
  const file = sqliteStore(join(folder, 'store.db'))
  const redis = redisStore({ url: server.url, deadlineMs: 60_000 })
  const database = await startPostgres(['fsync=on'])
  const postgres = postgresStore({ url: database.url, deadlineMs: 60_000 })
  try {
    const tallies = [
      await hammer(await createTwoTenants(), times(1_000_000), progress),
      await hammer(await createTwoTenants({ store: file }), times(50_000), progress),
      await hammer(await createTwoTenants({ store: redis }), times(50_000), progress),
      await hammer(await createTwoTenants({ store: postgres }), times(50_000), progress),
    ]
    const sum = (pick: (tally: (typeof tallies)[number]) => number): number =>
      tallies.reduce((total, tally) => total + pick(tally), 0)
    return {
      counted: {
        answers: sum(({ answers }) => answers),
        canaries: sum(({ canaries }) => canaries),
        changes: sum(({ changes }) => changes),
      },
      lost: tallies.flatMap(({ problems }) => problems),
    }
  } finally {
    await Promise.all([file.close(), redis.close(), postgres.close()])
    await Promise.all([server.stop(), database.stop()])
    rmSync(folder, { recursive: true })
  }
}
