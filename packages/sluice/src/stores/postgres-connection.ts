/**
 * One connection to a PostgreSQL primary, by the driver `pg`. Statements are prepared once and pipelined: each is a
 * transaction, and none waits for the answer to the one before it.
 */

import { Socket } from 'node:net'
import pg from 'pg'
import { RpcError } from '../core/error.ts'

/** Prepared under its name the first time a connection runs it. */
export interface Statement {
  readonly name: string
  readonly text: string
}
export type Parameter = string | number | null | readonly string[] | readonly (number | null)[]
/** Every column as text. */
export type Row = readonly (string | null)[]

export interface PostgresConnection {
  /** How many statements have been sent and not answered. */
  readonly pending: number
  /** When the pool last asked whether the server accepts writes. */
  checkedAt: number
  run(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>
  /** Runs several statements, without parameters, in one round trip. */
  script(text: string): Promise<void>
  /** Rejects with `25006` if the server does not accept writes. */
  check(): Promise<void>
  /** After what is pending. */
  end(): Promise<void>
  /** At once: everything pending is rejected. */
  destroy(): void
}

export interface PostgresConnectionOptions {
  readonly url: string
  readonly application: string
  /** The server gives up a statement after this time, so that one we no longer wait for does not take effect later. */
  readonly statementMs: number
  closed(): void
  notified?(channel: string, payload: string): void
}

/**
 * An idle connection shows that often that it is there. Firewalls and load balancers forget a silent one after minutes, and
 * the next call would cost a deadline; by default Linux waits two hours.
 */
export const keepAliveMs = 30_000

/** Text as it came: numbers and booleans are converted where they are used. */
const types = { getTypeParser: () => (value: string) => value }

export function createConnection(options: PostgresConnectionOptions): {
  readonly connection: PostgresConnection
  connect(): Promise<void>
} {
  const { url, application, statementMs, closed, notified } = options
  // A socket that can be destroyed: the driver's own `end` waits for a silent server forever.
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    application_name: application,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    pipeline: true,
    stream: () => socket,
    types: types as unknown as pg.CustomTypesConfig,
  })
  client.on('error', () => {
    socket.destroy()
    closed()
  })
  client.on('end', closed)
  if (notified) client.on('notification', ({ channel, payload = '' }) => notified(channel, payload))
  let pending = 0
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    pending++
    try {
      return await answer
    } finally {
      pending--
    }
  }
  const connection: PostgresConnection = {
    get pending() {
      return pending
    },
    checkedAt: Number.NEGATIVE_INFINITY,
    async run({ name, text }, values = []) {
      const query: pg.QueryArrayConfig = { name, text, values: [...values], rowMode: 'array' }
      return (await counted(client.query<(string | null)[]>(query))).rows
    },
    async script(text) {
      await counted(client.query(text))
    },
    async check() {
      const [row] = await connection.run(writable)
      if (row?.[0] !== 'true') throw Object.assign(new Error('The server is read-only'), { code: '25006' })
    },
    end: () => client.end(),
    destroy: () => {
      socket.destroy()
    },
  }
  return {
    connection,
    async connect() {
      await client.connect()
      await connection.script(session(statementMs))
      const [row] = await connection.run(server)
      const [encoding, version] = row ?? []
      if (encoding !== 'UTF8')
        throw new RpcError('storeUnavailable', `The store needs a database with the encoding UTF8, not ${encoding}`)
      if (Number(version) < minVersion * 10_000)
        throw new RpcError('storeUnavailable', `The store needs PostgreSQL ${minVersion} or newer`)
    },
  }
}

/** The oldest version that PostgreSQL's developers still maintain. */
const minVersion = 14

const writable: Statement = {
  name: 'writable',
  text: `SELECT (NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean)::text`,
}
const server: Statement = {
  name: 'server',
  text: `SELECT current_setting('server_encoding'), current_setting('server_version_num')`,
}
/**
 * The path names PostgreSQL's own schema alone: another account could add a function of the same name to a schema that it
 * may write to, and would run as this one. The verbs rely on read committed. All of them go through an index: a plan that was made while a table was small must not
 * read the whole table later. Plans without an alternative look expensive, which would start the compiler (`jit`).
 */
const session = (statementMs: number): string => `
  SET search_path = pg_catalog;
  SET default_transaction_isolation = 'read committed';
  SET statement_timeout = ${Math.ceil(statementMs)};
  SET idle_in_transaction_session_timeout = ${Math.ceil(statementMs)};
  SET enable_seqscan = off;
  SET enable_bitmapscan = off;
  SET jit = off`
