/** The part of a database that the archive needs. */

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

/** Maps the one error that an archive operation expects. */
export async function mapErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    // The row that it refers to is gone.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === '23503') throw new WorkspaceDeleted()
    throw thrown
  }
}
