/** The archive on a PostgreSQL server. */

import type { Clock } from 'sluice'
import type { PostgresSql } from 'sluice/postgres'
import { postgresDatabase } from 'sluice/postgres'
import type { Archive } from '../archive.ts'
import { postgresArchive } from './archive.ts'
import type { Sql } from './sql.ts'

export async function connectPostgres(url: string, clock: Clock): Promise<Archive> {
  const database = postgresDatabase({ url })
  try {
    return await postgresArchive(
      {
        ...sqlOf(database),
        transaction: (work) => database.transaction((sql) => work(sqlOf(sql))),
        close: () => database.close(),
      },
      clock,
    )
  } catch (thrown) {
    await database.close()
    throw thrown
  }
}

const sqlOf = (sql: PostgresSql): Sql => ({
  query: async (text, values) => (await sql.query(text, values)).rows,
})
