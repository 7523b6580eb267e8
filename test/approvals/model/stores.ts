/** A new world on each kind of store, for one schedule. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from 'sluice'
import { postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import { fakeClock } from 'sluice/testing'
import { prefixed } from '../../../packages/sluice/src/core/store.ts'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { startRedis } from '../../kit/processes/redis.ts'
import { expiringBy } from '../../kit/servers/expiring-store.ts'
import type { ModelWorld } from './world.ts'

const start = 1_700_000_000_000

export type InWorld = (work: (world: ModelWorld) => Promise<void>) => Promise<void>

export const inMemory: InWorld = async (work) => {
  const clock = fakeClock(start)
  await work({ clock, store: memoryStore(clock), effect: 1, ran: [] })
}

export const inSqlite: InWorld = async (work) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-model-'))
  const clock = fakeClock(start)
  const store = sqliteStore(join(folder, 'store.db'), { clock })
  try {
    await work({ clock, store, effect: 1, ran: [] })
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One Redis for all schedules, each below its own prefix. */
export async function startRedisWorlds(): Promise<{ readonly inRedis: InWorld; stop(): Promise<void> }> {
  const redis = await startRedis()
  const store = redisStore({ url: redis.url })
  let worlds = 0
  return {
    inRedis(work) {
      const clock = fakeClock(start)
      return work({ clock, store: expiringBy(clock, prefixed(store, [`world ${++worlds}`])), effect: 1, ran: [] })
    },
    async stop() {
      await store.close()
      await redis.stop()
    },
  }
}

/** One PostgreSQL for all schedules, a prefix for each. */
export async function startPostgresWorlds(): Promise<{ readonly inPostgres: InWorld; stop(): Promise<void> }> {
  const server = await startPostgres(['fsync=on'])
  const store = postgresStore({ url: server.url, deadlineMs: 20_000 })
  let worlds = 0
  return {
    inPostgres: (work) =>
      work({ clock: fakeClock(start), store: prefixed(store, [`world ${++worlds}`]), effect: 1, ran: [] }),
    async stop() {
      await store.close()
      await server.stop()
    },
  }
}
