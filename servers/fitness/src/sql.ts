/** As much of a database as the archive needs, the same for SQLite and PostgreSQL: `$1` stands for the first value. */

export type SqlValue = string | number | null
export type SqlRow = { readonly [column: string]: SqlValue }

export interface Sql {
  query(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** How many rows it changed. */
  execute(text: string, values?: readonly SqlValue[]): Promise<number>
  /** All of them or none. Returns what each changed. */
  transaction(changes: readonly (readonly [text: string, values: readonly SqlValue[]])[]): Promise<readonly number[]>
  close(): Promise<void>
}
