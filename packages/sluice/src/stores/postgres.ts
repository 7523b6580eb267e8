/**
 * The store and the bus of several processes on PostgreSQL: each verb is one statement and one transaction, by the
 * database's clock.
 *
 * Acknowledged writes are as safe as PostgreSQL is configured; `checkPostgresDurability` checks that. Values are stored as
 * text, so that a person can read the table.
 */

import { createHash } from 'node:crypto'
import { RpcError } from '../core/error.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import { sharedHub } from '../core/shared-hub.ts'
import type { Key, Store } from '../core/store.ts'
import { checkedValue, decodeKey, encodeKey, rangeOf, takeToken, toPageSize, toTtlMs } from './memory.ts'
import { createBatcher } from './postgres-batch.ts'
import type { Parameter, Row, Statement } from './postgres-connection.ts'
import { checkPostgresDurability } from './postgres-durability.ts'
import type { PostgresOptions } from './postgres-pool.ts'
import { createPool, schemaOf } from './postgres-pool.ts'
import { migrate, migrationMs } from './postgres-schema.ts'
import { createSweeper } from './postgres-sweep.ts'
import { createTaker } from './postgres-take.ts'

export type { PostgresBus } from './postgres-bus.ts'
export { postgresBus } from './postgres-bus.ts'
export type { PostgresDatabase, PostgresResult, PostgresSql } from './postgres-database.ts'
export { postgresDatabase } from './postgres-database.ts'
export { checkPostgresDurability } from './postgres-durability.ts'
export type { PostgresOptions } from './postgres-pool.ts'

/** A store that processes share. */
export interface PostgresStore extends Store {
  /** Closes the connections after running calls. Later calls are refused with `storeUnavailable`. */
  close(): Promise<void>
}

/**
 * Creates a store on PostgreSQL, which connects on first use. While the server is unavailable, calls are refused with
 * `storeUnavailable`, and reconnecting happens in the background.
 */
export function postgresStore(options: PostgresOptions): PostgresStore {
  const schema = schemaOf(options)
  let isMigrated = false
  const pool = createPool(options, {
    openedMs: migrationMs,
    async opened(connection) {
      if (isMigrated) return
      await migrate(connection, schema)
      isMigrated = true
    },
  })
  const sql = statementsOf(schema)
  const sweeper = createSweeper(pool, schema)
  const write = async (statement: Statement, values: readonly Parameter[]): Promise<readonly Row[]> => {
    const rows = await pool.run(statement, values)
    sweeper.wrote()
    return rows
  }
  const take = createTaker((values) => pool.run(sql.take, values), sweeper)
  /** Only for logs with a statement in flight. One at a time each: the server would make the second wait for the first. */
  const logs = new Map<string, (line: Line) => Promise<string>>()
  const createLog = (log: string): ((line: Line) => Promise<string>) =>
    createBatcher({
      inFlight: 1,
      sizeOf: ({ text }) => text.length,
      async send(lines) {
        const rows = await write(sql.append, [log, lines.map(({ text }) => text), lines.map(({ ttlMs }) => ttlMs)])
        return rows.map(([part]) => part ?? '')
      },
      idle: () => logs.delete(log),
    })
  let checking: Promise<readonly string[]> | undefined
  return {
    shared: sharedHub,
    checkDurability() {
      // One connection for all callers: at start-up hundreds of calls may ask at once.
      checking ??= checkPostgresDurability(options).finally(() => {
        checking = undefined
      })
      return checking
    },
    async get(key) {
      const [row] = await pool.run(sql.get, [toName(key)])
      return row && fromColumn(row[0] ?? '')
    },
    async set(key, value, ttlMs) {
      await write(sql.set, [toName(key), toColumn(checkedValue(value)), toTtlParameter(ttlMs)])
    },
    async swap(key, from, to, ttlMs) {
      const values = [toName(key), toColumn(checkedValue(to)), toTtlParameter(ttlMs)]
      const rows =
        from === undefined
          ? await write(sql.create, values)
          : await write(sql.replace, [...values, toColumn(checkedValue(from))])
      return rows.length === 1
    },
    async delete(key) {
      await write(sql.delete, [toName(key)])
    },
    async take(key, bucket) {
      // Rejected here as in every store: a rate of 0 would make a bucket that never fills.
      takeToken(undefined, bucket, 0)
      return take(toBucketName(key), bucket)
    },
    async append(key, value, ttlMs): Promise<Key> {
      const name = toName(key)
      const line = { text: toColumn(checkedValue(value)), ttlMs: toTtlParameter(ttlMs) }
      return [...key, await getOrCreate(logs, name, () => createLog(name))(line)]
    },
    async list(prefix, { limit, after }) {
      const { below, from, end } = rangeOf(prefix, after)
      assertShort(below)
      const rows = await pool.run(sql.list, [from, end, toPageSize(limit)])
      return rows.map(([key, value]) => ({ key: decodeKey(key ?? ''), value: fromColumn(value ?? '') }))
    },
    close: () => pool.close(),
  }
}

interface Line {
  readonly text: string
  /** In milliseconds; `null` for an entry that does not expire. */
  readonly ttlMs: number | null
}

function statementsOf(schema: string): Readonly<Record<Verb, Statement>> {
  const live = '(expires_at IS NULL OR expires_at > clock_timestamp())'
  const expiry = `clock_timestamp() + $3::float8 * interval '1 millisecond'`
  const replace = 'ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at'
  const texts: Readonly<Record<Verb, string>> = {
    get: `SELECT value FROM ${schema}.entries WHERE key = $1 AND ${live}`,
    set: `INSERT INTO ${schema}.entries VALUES ($1, $2, ${expiry}) ${replace}`,
    // Looks first: ON CONFLICT locks the row that it finds, and a lock is written to the disk like a change.
    create: `INSERT INTO ${schema}.entries AS found SELECT $1, $2, ${expiry}
      WHERE NOT EXISTS (SELECT FROM ${schema}.entries WHERE key = $1 AND ${live})
      ${replace} WHERE found.expires_at <= clock_timestamp() RETURNING 1`,
    replace: `UPDATE ${schema}.entries SET value = $2, expires_at = ${expiry} WHERE key = $1 AND value = $4 AND ${live} RETURNING 1`,
    delete: `DELETE FROM ${schema}.entries WHERE key = $1`,
    take: `SELECT granted, wait_ms FROM ${schema}.take($1, $2, $3, $4)`,
    append: `SELECT ${schema}.append($1, $2, $3)`,
    list: `SELECT key, value FROM ${schema}.entries WHERE key > $1 AND key < $2 AND ${live} ORDER BY key LIMIT $3::bigint`,
  }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { name, text }])) as Readonly<
    Record<Verb, Statement>
  >
}
type Verb = 'get' | 'set' | 'create' | 'replace' | 'delete' | 'take' | 'append' | 'list'

/** PostgreSQL refuses an index entry of more than a third of its page. */
const maxKeyBytes = 2600

const toName = (key: Key): string => assertShort(encodeKey(key))

function assertShort(name: string): string {
  if (isLong(name)) throw new RpcError('invalidParams', `A key of more than ${maxKeyBytes} bytes cannot be stored`)
  return name
}
/** Buckets are never listed, so a long name may be a hash. No encoded key begins with a letter. */
function toBucketName(key: Key): string {
  const name = encodeKey(key)
  return isLong(name) ? `sha256 ${createHash('sha256').update(name).digest('hex')}` : name
}
const isLong = (name: string): boolean => name.length > maxKeyBytes / 3 && Buffer.byteLength(name) > maxKeyBytes

const toTtlParameter = (ttlMs: number | undefined): number | null => {
  const ms = toTtlMs(ttlMs)
  return ms === Number.POSITIVE_INFINITY ? null : Math.max(0, ms)
}

/** PostgreSQL's text holds every character but U+0000, which becomes U+0001 U+0002. U+0001 becomes U+0001 U+0003. */
const toColumn = (value: string): string =>
  special.test(value) ? value.replace(specials, (char) => (char === '\0' ? '\u0001\u0002' : '\u0001\u0003')) : value

const fromColumn = (text: string): string =>
  text.includes('\u0001') ? text.replace(escaped, (pair) => (pair.charCodeAt(1) === 2 ? '\0' : '\u0001')) : text

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the two that are escaped
const special = /[\u0000\u0001]/
const specials = /* @__PURE__ */ new RegExp(special, 'g')
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const escaped = /\u0001[\u0002\u0003]/g
