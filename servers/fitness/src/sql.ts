/**
 * The database operations that the archive needs, the same for SQLite and PostgreSQL: `$1` stands for the first value.
 */

export type SqlValue = string | number | null
export type SqlRow = { readonly [column: string]: SqlValue }

export interface Sql {
  query(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Returns the number of changed rows. */
  execute(text: string, values?: readonly SqlValue[]): Promise<number>
  /** Runs all statements or none. Returns the number of rows that each one changed. */
  transaction(changes: readonly (readonly [text: string, values: readonly SqlValue[]])[]): Promise<readonly number[]>
  close(): Promise<void>
}
