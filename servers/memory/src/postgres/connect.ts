/** A pool of connections to a PostgreSQL server, with the driver `pg`. */

import pg from 'pg'
import type { Clock } from 'sluice'
import type { Archive } from '../archive.ts'
import { postgresArchive } from './archive.ts'
import type { Postgres } from './sql.ts'

/** No caller waits longer for a statement. */
const statementMs = 30_000
const connectMs = 5_000

export async function connectPostgres(url: string, clock: Clock): Promise<Archive> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    application_name: 'sluice-memory',
  })
  // An idle connection that breaks would otherwise end the process; the next query opens another.
  pool.on('error', () => {})
  try {
    return await postgresArchive(poolOf(pool), clock)
  } catch (thrown) {
    await pool.end()
    throw thrown
  }
}

const poolOf = (pool: pg.Pool): Postgres => ({
  query: async (text, values = []) => (await pool.query(text, [...values])).rows,
  async transaction(work) {
    const client = await pool.connect()
    let broken = true
    try {
      await client.query('BEGIN')
      const result = await work({ query: async (text, values = []) => (await client.query(text, [...values])).rows })
      await client.query('COMMIT')
      broken = false
      return result
    } catch (thrown) {
      broken = await client.query('ROLLBACK').then(
        () => false,
        () => true,
      )
      throw thrown
    } finally {
      // A connection in an unknown state is closed, not reused.
      client.release(broken)
    }
  },
  close: async () => {
    if (!pool.ending) await pool.end()
  },
})
