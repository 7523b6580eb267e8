/** The contract on a real Redis. */

import { afterAll, beforeAll } from 'vitest'
import type { OpenedBus, OpenedStore } from '../../packages/sluice/src/stores/contract.ts'
import { busContract, storeContract } from '../../packages/sluice/src/stores/contract.ts'
import type { RedisBus, RedisStore } from '../../packages/sluice/src/stores/redis.ts'
import { redisBus, redisStore } from '../../packages/sluice/src/stores/redis.ts'
import type { RedisServer } from '../kit/processes/redis.ts'
import { startRedis } from '../kit/processes/redis.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
}, 180_000)
afterAll(() => server?.stop())

let opened = 0

storeContract('redis', (): OpenedStore => {
  // A long deadline: the contract is about the answers, and a busy machine may take long to fsync.
  const where = { url: server.url, prefix: `test-${++opened}`, deadlineMs: 10_000 }
  const stores: RedisStore[] = []
  const open = (): RedisStore => {
    const store = redisStore(where)
    stores.push(store)
    return store
  }
  return {
    store: open(),
    openAnother: async () => open(),
    async reopen() {
      await server.kill()
      await server.start()
      return open()
    },
    otherProcess: { module: new URL('open-redis.ts', import.meta.url).href, argument: JSON.stringify(where) },
    async close() {
      await Promise.all(stores.map((store) => store.close()))
    },
  }
})

busContract('redis', (): OpenedBus => {
  const where = { url: server.url, prefix: `test-${++opened}`, deadlineMs: 10_000 }
  const buses: RedisBus[] = []
  const open = (): RedisBus => {
    const bus = redisBus(where)
    buses.push(bus)
    return bus
  }
  return {
    bus: open(),
    openAnother: async () => open(),
    async close() {
      await Promise.all(buses.map((bus) => bus.close()))
    },
  }
})
