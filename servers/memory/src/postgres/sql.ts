/** The little we need of a PostgreSQL driver, and what its errors mean. */

import { RpcError } from 'sluice'
import { WorkspaceDeleted } from '../archive.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Sql {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}
export interface Postgres extends Sql {
  /** All or nothing, on one connection. */
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

/** A verb of the archive, whose failures a client may read; what is our own bug stays one. */
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
  // What the driver says without a code when the connection ends under a query, or none can be had.
  return /terminated|timeout|not queryable|Connection ended/i.test(thrown.message) ? 'ECONNRESET' : ''
}
