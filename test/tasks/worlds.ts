/** The stores that tasks are tested on. In each, keys expire by the test's clock. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import type { FakeClock } from 'sluice/testing'
import { fakeClock } from 'sluice/testing'
import { prefixed } from '../../packages/sluice/src/core/store.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { expiringBy } from '../kit/servers/expiring-store.ts'

export interface TaskWorld {
  readonly clock: FakeClock
  readonly store: Store
}
export type InTaskWorld = (work: (world: TaskWorld) => Promise<void>) => Promise<void>

const start = 1_700_000_000_000

/** Without the mark of a store in memory, so that processes look at records as they do on a shared store. */
const asShared = ({ inProcess: _, ...store }: Store): Store => store

export const inMemory: InTaskWorld = async (work) => {
  const clock = fakeClock(start)
  await work({ clock, store: asShared(memoryStore(clock)) })
}

export const inSqlite: InTaskWorld = async (work) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tasks-'))
  const clock = fakeClock(start)
  const store = sqliteStore(join(folder, 'store.db'), { clock })
  try {
    await work({ clock, store })
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One Redis for all of them, each below a prefix. */
export async function startRedisTaskWorlds(): Promise<{ readonly inRedis: InTaskWorld; stop(): Promise<void> }> {
  const redis = await startRedis()
  const store = redisStore({ url: redis.url })
  let worlds = 0
  return {
    inRedis(work) {
      const clock = fakeClock(start)
      return work({ clock, store: expiringBy(clock, prefixed(store, [`tasks ${++worlds}`])) })
    },
    async stop() {
      await store.close()
      await redis.stop()
    },
  }
}
