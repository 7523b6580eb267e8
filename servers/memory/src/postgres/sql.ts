/** The part of a PostgreSQL driver that we need, and the meaning of its errors. */

import { RpcError } from 'sluice'
import { WorkspaceDeleted } from '../archive.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Sql {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}
export interface Postgres extends Sql {
  /** Runs all statements or none, on one connection. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const reasonsByCode: readonly (readonly [code: RegExp, is: string])[] = [
  [/^53100$/, 'on a full disk'],
  [/^(53|57P03|57014)/, 'too busy to answer'],
  [/^(08|57P|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|EPIPE|ENOENT)/, 'away'],
  [/^(28|3D000)/, 'not open to this server'],
  [/^(58|XX001|XX002)/, 'damaged or not readable'],
  [/^(25006|42501)/, 'not writable by this server'],
]

/** Maps the errors of an archive operation to messages that a client may read; our own bugs stay bugs. */
export async function mapErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === '23503') throw new WorkspaceDeleted()
    const is = reasonsByCode.find(([pattern]) => pattern.test(code))?.[1]
    if (is === undefined) throw thrown
    throw new RpcError('storeUnavailable', `The store is ${is}`, { cause: thrown })
  }
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return ''
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  // The driver reports a lost or refused connection without a code.
  return /terminated|timeout|not queryable|Connection ended/i.test(thrown.message) ? 'ECONNRESET' : ''
}
