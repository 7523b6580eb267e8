/** The stores that tasks are tested on. In each, keys expire by the test's clock. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import { postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import type { FakeClock } from 'sluice/testing'
import { fakeClock } from 'sluice/testing'
import { prefixed } from '../../packages/sluice/src/core/store.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { expiringBy } from '../kit/servers/expiring-store.ts'

export interface TaskWorld {
  readonly clock: FakeClock
  readonly store: Store
  /** Whether the store has answered everything that it was asked. */
  isIdle(): boolean
}
export type InTaskWorld = (work: (world: TaskWorld) => Promise<void>) => Promise<void>

const start = 1_700_000_000_000

/** Without the mark of a store in memory, so that processes look at records as they do on a shared store. */
const asShared = ({ inProcess: _, ...store }: Store): Store => store

function worldOf(clock: FakeClock, store: Store): TaskWorld {
  let open = 0
  const counted = new Proxy(store, {
    get(target, verb, receiver) {
      const found: unknown = Reflect.get(target, verb, receiver)
      if (typeof found !== 'function') return found
      return (...args: unknown[]) => {
        open++
        return Promise.resolve(Reflect.apply(found, target, args)).finally(() => open--)
      }
    },
  })
  return { clock, store: counted, isIdle: () => open === 0 }
}

export const inMemory: InTaskWorld = async (work) => {
  const clock = fakeClock(start)
  await work(worldOf(clock, asShared(memoryStore(clock))))
}

export const inSqlite: InTaskWorld = async (work) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tasks-'))
  const clock = fakeClock(start)
  const store = sqliteStore(join(folder, 'store.db'), { clock })
  try {
    await work(worldOf(clock, store))
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface SharedTaskWorlds {
  readonly inWorld: InTaskWorld
  stop(): Promise<void>
}

export async function startRedisTaskWorlds(): Promise<SharedTaskWorlds> {
  const redis = await startRedis()
  return sharedWorlds(redisStore({ url: redis.url }), redis)
}
export async function startPostgresTaskWorlds(): Promise<SharedTaskWorlds> {
  const postgres = await startPostgres()
  return sharedWorlds(postgresStore({ url: postgres.url, deadlineMs: 20_000 }), postgres)
}

/** One server for all of them, each below a prefix. */
function sharedWorlds(store: Store & { close(): Promise<void> }, server: { stop(): Promise<void> }): SharedTaskWorlds {
  let worlds = 0
  return {
    inWorld(work) {
      const clock = fakeClock(start)
      return work(worldOf(clock, expiringBy(clock, prefixed(store, [`tasks ${++worlds}`]))))
    },
    async stop() {
      await store.close()
      await server.stop()
    },
  }
}
