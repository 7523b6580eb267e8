/** As much of a database as the archive needs, the same for SQLite and PostgreSQL: `$1` stands for the first value. */

export type Value = string | number | null
export type Row = { readonly [column: string]: Value }

export interface Sql {
  rows(text: string, values?: readonly Value[]): Promise<readonly Row[]>
  /** How many rows it changed. */
  change(text: string, values?: readonly Value[]): Promise<number>
  /** All of them or none. Returns what each changed. */
  together(changes: readonly (readonly [text: string, values: readonly Value[]])[]): Promise<readonly number[]>
  close(): Promise<void>
}
