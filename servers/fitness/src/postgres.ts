/** PostgreSQL, for several processes. */

import { postgresDatabase } from 'sluice/postgres'
import type { Sql, SqlRow } from './sql.ts'
import { moreTables, nightTables, tables } from './tables.ts'

/** The advisory lock under which processes that start together create the tables one after the other. */
const lock = 0x4669_746e

export async function connectPostgres(url: string): Promise<Sql> {
  const database = postgresDatabase({ url })
  try {
    await database.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock($1)', [lock])
      for (const text of [tables, moreTables, nightTables]) await sql.query(text)
    })
  } catch (thrown) {
    await database.close()
    throw thrown
  }
  return {
    query: async (text, values) => (await database.query(text, values)).rows as readonly SqlRow[],
    execute: async (text, values) => (await database.query(text, values)).count,
    transaction: (changes) =>
      database.transaction(async (sql) => {
        const counts: number[] = []
        for (const [text, values] of changes) counts.push((await sql.query(text, values)).count)
        return counts
      }),
    close: () => database.close(),
  }
}
