/** The contract on a real PostgreSQL. */

import { afterAll, beforeAll } from 'vitest'
import type { OpenedBus, OpenedStore } from '../../packages/sluice/src/stores/contract.ts'
import { busContract, storeContract } from '../../packages/sluice/src/stores/contract.ts'
import type { PostgresBus, PostgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { postgresBus, postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import type { PostgresServer } from '../kit/processes/postgres.ts'
import { startPostgres } from '../kit/processes/postgres.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 180_000)
afterAll(() => server?.stop())

let opened = 0

storeContract('postgres', (): OpenedStore => {
  // A long deadline: the contract is about what is answered, and a busy machine may take its time.
  const where = { url: server.url, schema: `test_${++opened}`, deadlineMs: 10_000 }
  const stores: PostgresStore[] = []
  const open = (): PostgresStore => {
    const store = postgresStore(where)
    stores.push(store)
    return store
  }
  return {
    store: open(),
    openAnother: async () => open(),
    // In order: after a crash the last draws from buckets may be undone, and crash.test.ts has the rest.
    async reopen() {
      await server.restart()
      return open()
    },
    otherProcess: { module: new URL('open-postgres.ts', import.meta.url).href, argument: JSON.stringify(where) },
    async close() {
      await Promise.all(stores.map((store) => store.close()))
    },
  }
})

busContract('postgres', (): OpenedBus => {
  const where = { url: server.url, schema: `test_${++opened}`, deadlineMs: 10_000 }
  const buses: PostgresBus[] = []
  const open = (): PostgresBus => {
    const bus = postgresBus(where)
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
