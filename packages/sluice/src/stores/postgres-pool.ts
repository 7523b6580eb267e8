/**
 * A few connections to one PostgreSQL, replaced when they break or stop answering.
 *
 * Each operation has a deadline. The server itself gives up a slow statement before it (`statement_timeout`), so an
 * operation that passes the deadline means that the server or the network is silent: every connection is given up. Nothing
 * is sent twice: whether a statement without an answer took effect is not known, and `storeUnavailable` says so.
 *
 * After a failover an address may lead to a standby, or to a server that was made read-only. Both still answer reads, with
 * old values. So each connection is asked whether it accepts writes: when it is opened, and every second while it is used.
 */

import type { Clock } from '../core/clock.ts'
import { monotonicNow, systemClock } from '../core/clock.ts'
import { storeUnavailable } from '../core/error.ts'
import { createDeadline } from './deadline.ts'
import type { Parameter, PostgresConnection, PostgresConnectionOptions, Row, Statement } from './postgres-connection.ts'
import { createConnection } from './postgres-connection.ts'
import { isUseless, toUnavailable, toUnopened } from './postgres-errors.ts'

/** The address of the database, its schema, and the limits of one store or bus. */
export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database`, with `?sslmode=verify-full` for TLS. */
  readonly url: string
  /** The schema that holds the tables, which is created on first use: `sluice` by default. */
  readonly schema?: string
  /** How long one operation may take before every connection is given up: 2 s by default. */
  readonly deadlineMs?: number
  /** How many connections a store may open: 4 by default. Writes on different connections share a commit to the disk. */
  readonly connections?: number
  readonly clock?: Clock
}

export interface PostgresPool {
  run(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>
  /** After what is running. */
  close(): Promise<void>
}

export interface PoolOptions {
  /** Runs on every new connection before anything else may use it. */
  opened?(connection: PostgresConnection): Promise<void>
  /** How long `opened` may take: the deadline of an operation by default. */
  readonly openedMs?: number
  /** With `any` a standby will do: for questions about the server itself. */
  readonly role?: 'primary' | 'any'
  readonly connections?: number
  readonly notified?: PostgresConnectionOptions['notified']
}

const defaultDeadlineMs = 2000
/** The pause between two attempts while the server is unavailable. Calls meanwhile are refused at once. */
const retryMs = 200
/** After a further connection could not be opened: calls wait for each attempt. */
const growMs = 10_000
/** Between two checks whether the server still accepts writes. */
const checkMs = 1000

export function createPool(options: PostgresOptions, poolOptions: PoolOptions = {}): PostgresPool {
  const { url, deadlineMs = defaultDeadlineMs, clock = systemClock } = options
  const { opened, openedMs = deadlineMs, role = 'primary', notified } = poolOptions
  const maxConnections = poolOptions.connections ?? options.connections ?? 4
  const ready = new Set<PostgresConnection>()
  let opening: Promise<PostgresConnection> | undefined
  let beingOpened: PostgresConnection | undefined
  /** The last attempt failed with no connection left, or an operation passed its deadline. */
  let away = false
  /** Not before this time is the server tried again, or asked for a further connection. */
  let [retryAt, growAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let closed = false
  const now = (): number => monotonicNow(clock)
  const deadline = createDeadline(clock, deadlineMs, () => {
    if (ready.size === 0) return
    away = true
    for (const each of [...ready]) lose(each)
  })

  const lose = (connection: PostgresConnection): void => {
    ready.delete(connection)
    connection.destroy()
  }
  const check = async (connection: PostgresConnection): Promise<void> => {
    if (role === 'any') return
    connection.checkedAt = now()
    await connection.check()
  }
  async function open(): Promise<PostgresConnection> {
    const { connection, connect } = createConnection({
      url,
      application: 'sluice',
      statementMs: deadlineMs * 0.8,
      closed: () => lose(connection),
      ...(notified && { notified }),
    })
    beingOpened = connection
    let cancelTimer = clock.after(deadlineMs, () => lose(connection))
    let isOpen = false
    try {
      await connect()
      await check(connection)
      cancelTimer()
      cancelTimer = clock.after(openedMs, () => lose(connection))
      await opened?.(connection)
      if (closed) throw storeUnavailable('closed')
      isOpen = true
      away = false
      ready.add(connection)
      return connection
    } finally {
      cancelTimer()
      beingOpened = undefined
      if (!isOpen) lose(connection)
    }
  }
  async function tryToOpen(): Promise<PostgresConnection> {
    try {
      return await open()
    } catch (thrown) {
      if (ready.size > 0) growAt = now() + growMs
      else {
        away = true
        retryAt = now() + retryMs
      }
      throw toUnopened(thrown)
    } finally {
      opening = undefined
    }
  }
  const begin = (): Promise<PostgresConnection> => {
    if (!opening) {
      opening = tryToOpen()
      opening.catch(() => {})
    }
    return opening
  }
  const leastBusy = (): PostgresConnection | undefined => {
    let best: PostgresConnection | undefined
    for (const each of ready) if (!best || each.pending < best.pending) best = each
    return best
  }
  /**
   * A connection to use now, or `undefined` after waiting for one more to open. A statement is sent behind another one only
   * while no further connection can be had: the first may wait for a lock.
   */
  const pick = (): PostgresConnection | Promise<undefined> => {
    if (closed) throw storeUnavailable('closed')
    const best = leastBusy()
    if (best && (best.pending === 0 || ready.size >= maxConnections || now() < growAt)) return best
    if (!best && now() < retryAt) throw storeUnavailable('away')
    const next = begin()
    if (best)
      return next.then(
        () => undefined,
        () => undefined,
      )
    if (away) throw storeUnavailable('away')
    return next.then(() => undefined)
  }
  return {
    async run(statement, values) {
      let picked = pick()
      // No await between the choice and the use: calls that wait together would all choose the same connection.
      while ('then' in picked) picked = (await picked) ?? pick()
      const connection = picked
      if (now() - connection.checkedAt >= checkMs)
        check(connection).catch((thrown: unknown) => {
          if (isUseless(thrown)) lose(connection)
        })
      const end = deadline.begin()
      try {
        return await connection.run(statement, values)
      } catch (thrown) {
        if (isUseless(thrown)) lose(connection)
        throw toUnavailable(thrown)
      } finally {
        end()
      }
    },
    async close() {
      closed = true
      const ending = [...ready]
      // A silent server would never answer what is pending, and a migration may wait for one of another process.
      const cancelTimer = clock.after(deadlineMs, () => {
        for (const each of [...ending, beingOpened]) if (each) lose(each)
      })
      await Promise.all([opening?.catch(() => {}), ...ending.map((each) => each.end())])
      ready.clear()
      cancelTimer()
    },
  }
}

/** Returns the quoted name of the schema. It is checked, because it is part of the text of every statement. */
export function schemaOf({ schema = 'sluice' }: PostgresOptions): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_'))
    throw new Error(`The schema "${schema}" must be of lower-case letters, digits and "_", and not begin with "pg_"`)
  return `"${schema}"`
}
