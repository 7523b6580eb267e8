/**
 * A PostgreSQL for the tables of a server itself, with transactions. Servers of one process that name the same database
 * share its connections, and all servers have the same limits.
 */

import pg from 'pg'
import { storeUnavailable } from '../core/error.ts'
import { keepAliveMs } from './postgres-connection.ts'
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
/** A server that has not answered by then is silent. It must not keep the connection, or ten such calls would block all. */
const silentMs = statementMs + 5_000

interface SharedPool {
  readonly pool: pg.Pool
  users: number
}
const pools = new Map<string, SharedPool>()

type Run = (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>

/** Opens the database at `url`: `postgresql://user:password@host:port/database`. It connects on first use. */
export function postgresDatabase({ url }: { readonly url: string }): PostgresDatabase {
  const shared = pools.get(url) ?? { pool: createPool(url), users: 0 }
  pools.set(url, shared)
  shared.users++
  const { pool } = shared
  let isClosed = false

  async function onConnection<T>(work: (run: Run, giveUp: () => void) => Promise<T>): Promise<T> {
    const client = await connect(pool)
    let isBroken = false
    const giveUp = (): void => {
      isBroken = true
    }
    const run: Run = async (text, values = []) => {
      // A silent server would let each further statement wait as long, the one that ends the transaction included.
      if (isBroken) throw storeUnavailable('away')
      try {
        return await client.query(text, [...values])
      } catch (thrown) {
        if (isUseless(thrown)) giveUp()
        throw toUnavailable(thrown)
      }
    }
    try {
      return await work(run, giveUp)
    } finally {
      // A connection that is in an unknown state, or leads to a standby, is not used again.
      client.release(isBroken)
    }
  }
  return {
    query: (text, values) => onConnection((run) => toSql(run).query(text, values)),
    transaction: (work) =>
      onConnection(async (run, giveUp) => {
        await run('BEGIN')
        try {
          const result = await work(toSql(run))
          const { command } = await run('COMMIT')
          // PostgreSQL's answer if the work went on after a statement that failed. It is not an error there.
          if (command === 'ROLLBACK') throw new Error('A statement failed, so nothing of the transaction was kept')
          return result
        } catch (thrown) {
          await run('ROLLBACK').catch(giveUp)
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

const toSql = (run: Run): PostgresSql => ({
  async query(text, values) {
    const { rows, rowCount } = await run(text, values)
    return { rows, count: rowCount ?? 0 }
  },
})

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (thrown) {
    throw toUnopened(thrown)
  }
}

/** Counts and ids come as numbers, because none exceeds the range of a double. */
const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) }

/** Not parameters of the connection, because PgBouncer refuses these. */
async function setTimeouts(client: pg.ClientBase): Promise<void> {
  await client.query(`SET statement_timeout = ${statementMs}; SET idle_in_transaction_session_timeout = ${statementMs}`)
}

function createPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    query_timeout: silentMs,
    application_name: 'sluice',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types: types as unknown as pg.CustomTypesConfig,
    // The pool waits for the promise, which its types do not say.
    onConnect: setTimeouts as (client: pg.ClientBase) => void,
  })
  // Without listeners, a connection that breaks would end the process: an idle one, and one in use.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
