/** SQLite, for one machine. */

import type { StatementSync } from 'node:sqlite'
import { createRetry, createWriter, openDatabase } from 'sluice/sqlite'
import type { Sql, SqlRow, SqlValue } from './sql.ts'
import { moreTables, nightTables, schema, tables } from './tables.ts'

/** "Fitn" */
const applicationId = 0x4669_746e
const yieldAfterRows = 50

const withoutSchema = (text: string): string => text.replaceAll(`${schema}.`, '')

export function sqliteFile(path: string): Sql {
  const database = openDatabase(path, {
    applicationId,
    migrations: [`PRAGMA application_id = ${applicationId};${tables}`, moreTables, nightTables].map(withoutSchema),
  })
  const writer = createWriter(database)
  const read = createRetry()
  const prepared = new Map<string, StatementSync>()
  const statement = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known) return known
    const made = database.prepare(withoutSchema(text).replace(/\$(\d+)/g, '?$1'))
    prepared.set(text, made)
    return made
  }
  const run = (text: string, values: readonly SqlValue[]): number => Number(statement(text).run(...values).changes)
  return {
    async query(text, values = []) {
      const found = await read(() => statement(text).all(...values) as SqlRow[])
      // SQLite reads synchronously, so consecutive reads must not add up to one long turn.
      if (found.length > yieldAfterRows) await new Promise((resolve) => setImmediate(resolve))
      return found
    },
    execute: (text, values = []) => writer.write(() => run(text, values)),
    transaction: (changes) => writer.write(() => changes.map(([text, values]) => run(text, values))),
    close: () => writer.close(),
  }
}
