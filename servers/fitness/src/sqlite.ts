/** The file of one machine. */

import type { StatementSync } from 'node:sqlite'
import { createWriter, openDatabase, toUnavailable } from 'sluice/sqlite'
import type { Sql, Value } from './sql.ts'
import { tables } from './tables.ts'

/** "Fitn" */
const applicationId = 0x4669_746e

export function sqliteFile(path: string): Sql {
  const database = openDatabase(path, {
    applicationId,
    migrations: [`PRAGMA application_id = ${applicationId};${tables}`],
  })
  const writer = createWriter(database)
  const prepared = new Map<string, StatementSync>()
  const statement = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known) return known
    const made = database.prepare(text.replace(/\$(\d+)/g, '?$1'))
    prepared.set(text, made)
    return made
  }
  const run = (text: string, values: readonly Value[]): number => Number(statement(text).run(...values).changes)
  return {
    async rows(text, values = []) {
      try {
        return statement(text).all(...values) as never
      } catch (thrown) {
        throw toUnavailable(thrown)
      }
    },
    change: (text, values = []) => writer.write(() => run(text, values)),
    together: (changes) => writer.write(() => changes.map(([text, values]) => run(text, values))),
    async close() {
      writer.flush()
      database.close()
    },
  }
}
