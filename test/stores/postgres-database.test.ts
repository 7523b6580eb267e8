/** `postgresDatabase`: the connections that the servers of one process share for their own tables. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresDatabase } from 'sluice/postgres'
import { postgresDatabase } from 'sluice/postgres'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { PostgresServer } from '../kit/processes/postgres.ts'
import { startPostgres } from '../kit/processes/postgres.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  const database = postgresDatabase({ url: server.url })
  await database.query('CREATE TABLE notes (id bigint PRIMARY KEY)')
  await database.close()
})
afterAll(() => server.stop())

function open(): PostgresDatabase {
  const database = postgresDatabase({ url: server.url })
  onTestFinished(() => database.close())
  return database
}
const pidOf = async (database: PostgresDatabase): Promise<unknown> =>
  (await database.query('SELECT pg_backend_pid() AS pid')).rows[0]?.['pid']

test('servers that name one database share its connections, and the last one that closes ends them', async () => {
  const [memory, fitness] = [postgresDatabase({ url: server.url }), postgresDatabase({ url: server.url })]
  const pid = await pidOf(memory)
  expect(await pidOf(fitness)).toBe(pid)
  await memory.close()
  await memory.close()
  expect(await pidOf(fitness)).toBe(pid)
  await fitness.close()
  const { rows } = await open().query('SELECT count(*) AS n FROM pg_stat_activity WHERE pid = $1', [pid])
  expect(rows).toEqual([{ n: 0 }])
})

test('more statements at once than connections wait for each other', async () => {
  const database = open()
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => database.query('SELECT $1::int AS i', [i])))
  expect(results.map(({ rows }) => rows[0]?.['i'])).toEqual(Array.from({ length: 50 }, (_, i) => i))
  const { rows } = await database.query(`SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'sluice'`)
  expect(rows[0]?.['n']).toBeLessThanOrEqual(10)
})

test('a transaction is whole or not there, and an error of its work is not one of the database', async () => {
  const database = open()
  const bug = new TypeError('a bug')
  const work = database.transaction(async (sql) => {
    await sql.query('INSERT INTO notes VALUES (1)')
    throw bug
  })
  await expect(work).rejects.toBe(bug)
  await expect(
    database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (2)')
      await sql.query('INSERT INTO notes VALUES (2)')
    }),
  ).rejects.toMatchObject({ code: '23505' })
  expect((await database.query('SELECT FROM notes')).count).toBe(0)
  await database.transaction((sql) => sql.query('INSERT INTO notes VALUES (3)'))
  expect((await database.query('DELETE FROM notes')).count).toBe(1)
})

test('a transaction that went on after a failed statement is not reported as done', async () => {
  const database = open()
  const work = database.transaction(async (sql) => {
    await sql.query('INSERT INTO notes VALUES (5)')
    await sql.query('INSERT INTO notes VALUES (5)').catch(() => {})
  })
  await expect(work).rejects.toThrow('nothing of the transaction was kept')
  expect((await database.query('SELECT FROM notes')).count).toBe(0)
})

test('a server that became read-only costs the connection, and is used again when it accepts writes', async () => {
  const database = open()
  const pid = await pidOf(database)
  await database.query(`SET default_transaction_read_only = on`)
  const writes = database.transaction((sql) => sql.query('INSERT INTO notes VALUES (4)'))
  await expect(writes).rejects.toMatchObject({ reason: 'storeUnavailable', message: 'The store is read-only' })
  await database.query('INSERT INTO notes VALUES (4)')
  expect(await pidOf(database)).not.toBe(pid)
})

test('while the server is away statements are refused, and they work again when it is back', async () => {
  const database = open()
  await pidOf(database)
  await server.kill()
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ reason: 'storeUnavailable' })
  await server.start()
  expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a server that dies under a statement and within a transaction costs these two, not the process', async () => {
  const database = open()
  const refused = { reason: 'storeUnavailable' }
  const statement = expect(database.query('SELECT pg_sleep(60)')).rejects.toMatchObject(refused)
  const transaction = database.transaction(async (sql) => {
    await sql.query('INSERT INTO notes VALUES (6)')
    const asleep = `SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND wait_event = 'PgSleep'`
    while ((await database.query(asleep)).rows[0]?.['n'] === 0) await sleep(10)
    await server.kill()
    await server.start()
    await sql.query('INSERT INTO notes VALUES (7)')
  })
  await expect(transaction).rejects.toMatchObject(refused)
  await statement
  expect((await database.query('SELECT FROM notes WHERE id = 6')).count).toBe(0)
})

test('a silent server keeps no connection for ever', async () => {
  const database = open()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
    server.resume()
  })
  const { promise: isSent, resolve: sent } = Promise.withResolvers<void>()
  const transaction = database.transaction(async (sql) => {
    await sql.query('INSERT INTO notes VALUES (8)')
    server.pause()
    const statement = sql.query('SELECT 1')
    sent()
    await statement
  })
  const refusal = expect(transaction).rejects.toMatchObject({ reason: 'storeUnavailable' })
  await isSent
  // More than the 30 seconds that the server itself gives a statement.
  await vi.advanceTimersByTimeAsync(36_000)
  await refusal
  server.resume()
  expect((await database.query('SELECT FROM notes WHERE id = 8')).count).toBe(0)
})

test('the server gives up a long statement, also behind a pooler', async () => {
  const database = open()
  expect((await database.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '30s' }])
  // PgBouncer refuses a connection that names any other parameter.
  const parameters = new Promise<readonly string[]>((resolve) => {
    const pooler = createServer((socket) =>
      socket.once('data', (startup) => {
        socket.destroy()
        resolve(startup.toString('latin1', 8).split('\0'))
      }),
    ).listen(0, '127.0.0.1')
    onTestFinished(() => {
      pooler.close()
    })
    once(pooler, 'listening').then(async () => {
      const address = pooler.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const behind = postgresDatabase({ url: `postgresql://ann@127.0.0.1:${port}/notes` })
      await behind.query('SELECT 1').catch(() => {})
      await behind.close()
    }, resolve)
  })
  const names = (await parameters).filter((each, index) => each !== '' && index % 2 === 0)
  expect(names.sort()).toEqual(['application_name', 'client_encoding', 'database', 'user'])
})
