/** PostgreSQL, for several processes. Numbers come back as numbers, because none exceeds the range of a double. */

import type { Pool, PoolClient } from 'pg'
import { RpcError } from 'sluice'
import type { Sql } from './sql.ts'
import { moreTables, nightTables, tables } from './tables.ts'

/** The advisory lock under which processes that start together create the tables one after the other. */
const lock = 0x4669_746e

/** A hanging database must not hang its callers: they get an error, and the connection is closed. */
const connectMs = 5000
const statementMs = 20_000

export async function postgres(url: string): Promise<Sql> {
  const { default: pg } = await import('pg')
  const types = { getTypeParser: (oid: number) => (oid === 20 || oid === 701 ? Number : pg.types.getTypeParser(oid)) }
  const pool: Pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    application_name: 'sluice-fitness',
    types: types as never,
  })
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', () => {})
  await transaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [lock])
    await client.query(tables)
    await client.query(moreTables)
    await client.query(nightTables)
  })
  return {
    query: (text, values = []) => mapErrors(async () => (await pool.query(text, [...values])).rows),
    execute: (text, values = []) => mapErrors(async () => (await pool.query(text, [...values])).rowCount ?? 0),
    transaction: (changes) =>
      mapErrors(() =>
        transaction(pool, async (client) => {
          const counts: number[] = []
          for (const [text, values] of changes) counts.push((await client.query(text, [...values])).rowCount ?? 0)
          return counts
        }),
      ),
    close: () => pool.end(),
  }
}

async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (thrown) {
    await client.query('ROLLBACK').catch(() => {})
    throw thrown
  } finally {
    client.release()
  }
}

/** Hides the database's own messages, which belong in the log. */
async function mapErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new RpcError('storeUnavailable', 'The database does not answer', { cause })
  }
}
