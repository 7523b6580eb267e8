/**
 * A PostgreSQL for the tables of a server itself, with transactions. Servers of one process that name the same database
 * share its connections, and all servers have the same limits.
 */

import pg from 'pg'
import { isUseless, toUnavailable, toUnopened } from './postgres-errors.ts'

/** What one statement returned. */
export interface PostgresResult {
  readonly rows: readonly { readonly [column: string]: unknown }[]
  /** The number of rows that were read or changed. */
  readonly count: number
}

/** Runs statements, in which `$1` stands for the first value. Rejects with `storeUnavailable` while the server is away. */
export interface PostgresSql {
  query(text: string, values?: readonly unknown[]): Promise<PostgresResult>
}

/** A database that servers share. */
export interface PostgresDatabase extends PostgresSql {
  /** Runs all statements of `work` or none, on one connection. */
  transaction<T>(work: (sql: PostgresSql) => Promise<T>): Promise<T>
  /** The last server that closes it ends its connections. */
  close(): Promise<void>
}

const maxConnections = 10
const connectMs = 5_000
/** The server gives up a longer statement. */
const statementMs = 30_000

interface SharedPool {
  readonly pool: pg.Pool
  users: number
}
const pools = new Map<string, SharedPool>()

/** Opens the database at `url`: `postgresql://user:password@host:port/database`. It connects on first use. */
export function postgresDatabase({ url }: { readonly url: string }): PostgresDatabase {
  const shared = pools.get(url) ?? { pool: createPool(url), users: 0 }
  pools.set(url, shared)
  shared.users++
  const { pool } = shared
  let isClosed = false

  async function onConnection<T>(work: (sql: PostgresSql, giveUp: () => void) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((thrown: unknown) => {
      throw toUnopened(thrown)
    })
    let isBroken = false
    const giveUp = (): void => {
      isBroken = true
    }
    const sql: PostgresSql = {
      async query(text, values = []) {
        try {
          const { rows, rowCount } = await client.query(text, [...values])
          return { rows, count: rowCount ?? 0 }
        } catch (thrown) {
          if (isUseless(thrown)) giveUp()
          throw toUnavailable(thrown)
        }
      },
    }
    try {
      return await work(sql, giveUp)
    } finally {
      // A connection that is in an unknown state, or leads to a standby, is not used again.
      client.release(isBroken)
    }
  }
  return {
    query: (text, values) => onConnection((sql) => sql.query(text, values)),
    transaction: (work) =>
      onConnection(async (sql, giveUp) => {
        await sql.query('BEGIN')
        try {
          const result = await work(sql)
          await sql.query('COMMIT')
          return result
        } catch (thrown) {
          await sql.query('ROLLBACK').catch(giveUp)
          throw thrown
        }
      }),
    async close() {
      if (isClosed) return
      isClosed = true
      if (--shared.users > 0) return
      pools.delete(url)
      await pool.end()
    },
  }
}

/** Counts and ids come as numbers, because none exceeds the range of a double. */
const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) }

function createPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    application_name: 'sluice',
    keepAlive: true,
    types: types as unknown as pg.CustomTypesConfig,
  })
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', () => {})
  return pool
}
