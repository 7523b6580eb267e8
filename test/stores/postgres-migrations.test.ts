/** stores/postgres-schema.ts: steps that are interrupted, done by several processes at once, or of a newer version. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import type { PostgresServer } from '../kit/processes/postgres.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { middle } from './migrate-postgres-steps.ts'

const program = fileURLToPath(new URL('migrate-postgres-child.fixture.ts', import.meta.url))
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 180_000)
afterAll(() => server?.stop())

let admin: pg.Client
async function connect(): Promise<pg.Client> {
  const client = new pg.Client(server.url)
  client.on('error', () => {})
  await client.connect()
  return client
}
beforeEach(async () => {
  admin = await connect()
})
afterEach(() => admin.end())

let schemas = 0
const start = (schema: string) =>
  spawn(process.execPath, [program, server.url, schema], { stdio: ['ignore', 'ignore', 'ignore'] })
const succeeds = async (schema: string): Promise<boolean> => (await once(start(schema), 'exit'))[0] === 0
async function rowsOf(client: pg.Client, sql: string): Promise<readonly unknown[]> {
  return (await client.query({ text: sql, rowMode: 'array' })).rows.flat()
}
const waitingForLock = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
/** Until a step waits in its middle. */
async function inTheMiddle(): Promise<void> {
  while ((await rowsOf(admin, `${waitingForLock} AND objid = ${middle}`)).length === 0) await sleep(10)
}
async function expectUpToDate(schema: string): Promise<void> {
  expect(await rowsOf(admin, `SELECT n FROM ${schema}.new ORDER BY n`)).toEqual([1, 2, 3, 4])
  expect(await rowsOf(admin, `SELECT version FROM ${schema}.versions ORDER BY 1`)).toEqual([1, 2, 3])
  expect(await rowsOf(admin, `SELECT to_regclass('${schema}.old')`)).toEqual([null])
}

test.each(['the process is killed', 'the connection is terminated', 'the server is killed'])(
  '%s in the middle of a step: the next process does the step whole',
  { timeout: 60_000 },
  async (how) => {
    const schema = `m${++schemas}`
    await admin.query(`SELECT pg_advisory_lock(${middle})`)
    const child = start(schema)
    const ended = once(child, 'exit')
    await inTheMiddle()
    expect(await rowsOf(admin, `SELECT version FROM ${schema}.versions`)).toEqual([1])
    if (how === 'the process is killed') child.kill('SIGKILL')
    else if (how === 'the server is killed') await server.kill()
    else
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'migration'`)
    if (how === 'the server is killed') {
      await server.start()
      admin = await connect()
    }
    await ended
    await admin.query(`SELECT pg_advisory_unlock_all()`)
    expect(await succeeds(schema)).toBe(true)
    await expectUpToDate(schema)
  },
)

test('of several processes that start at once one does each step', { timeout: 60_000 }, async () => {
  const schema = `m${++schemas}`
  const lock = `hashtextextended('sluice migration of ${schema}', 0)`
  await admin.query(`SELECT pg_advisory_lock(${lock})`)
  const all = Promise.all(Array.from({ length: 4 }, () => succeeds(schema)))
  // All have seen that there is nothing yet.
  while ((await rowsOf(admin, waitingForLock)).length < 4) await sleep(10)
  await admin.query('SELECT pg_advisory_unlock_all()')
  expect(await all).toEqual([true, true, true, true])
  await expectUpToDate(schema)
})

test('stores that are opened at once on a new database all work', async () => {
  const stores = Array.from({ length: 5 }, () =>
    postgresStore({ url: server.url, schema: 'together', deadlineMs: 20_000 }),
  )
  const won = await Promise.all(stores.map((store) => store.swap(['a'], undefined, 'x')))
  expect(won.filter(Boolean)).toHaveLength(1)
  await Promise.all(stores.map((store) => store.close()))
})

test('a database of a newer version is refused, with what to do', async () => {
  const options = { url: server.url, schema: 'newer', deadlineMs: 20_000 }
  const first = postgresStore(options)
  await first.set(['a'], '1')
  await first.close()
  await admin.query('INSERT INTO newer.versions VALUES (99)')
  const store = postgresStore(options)
  await expect(store.get(['a'])).rejects.toMatchObject({
    reason: 'storeUnavailable',
    message: expect.stringContaining('newer Sluice (schema 99'),
  })
  await store.close()
})

test('an account that may not create tables uses those that are there', async () => {
  const options = { schema: 'given', deadlineMs: 20_000 }
  const owner = postgresStore({ ...options, url: server.url })
  await owner.set(['a'], '1')
  await owner.close()
  await admin.query(`CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA given TO guest;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA given TO guest; GRANT USAGE ON SEQUENCE given.appended TO guest`)
  const url = server.url.replace('sluice@', 'guest@')
  const store = postgresStore({ ...options, url })
  expect(await store.get(['a'])).toBe('1')
  expect(await store.append(['log'], 'x')).toHaveLength(2)
  expect(await store.take(['b'], { burst: 1, perSecond: 1 })).toBe(0)
  await store.close()
  const without = postgresStore({ ...options, schema: 'not_there', url })
  await expect(without.get(['a'])).rejects.toMatchObject({ message: 'The store is refusing this account' })
  await without.close()
})
