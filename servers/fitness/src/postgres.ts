/** PostgreSQL, for several processes. */

import type { PostgresDatabase, PostgresSql } from 'sluice/postgres'
import { postgresDatabase } from 'sluice/postgres'
import type { Sql, SqlRow, SqlValue } from './sql.ts'
import { moreTables, nightTables, schema, tables } from './tables.ts'

/** Step n migrates the schema from version n to n + 1. A released step never changes; new steps are appended. */
const migrations = [tables, moreTables, nightTables]

/** Any number that no other advisory lock uses. */
const lock = 0x4669_746e

export async function connectPostgres(url: string): Promise<Sql> {
  const database = postgresDatabase({ url })
  try {
    await migrate(database)
  } catch (thrown) {
    await database.close()
    throw thrown
  }
  return {
    query: async (text, values) => (await database.query(text, withoutNul(values))).rows as readonly SqlRow[],
    execute: async (text, values) => (await database.query(text, withoutNul(values))).count,
    transaction: (changes) =>
      database.transaction(async (sql) => {
        const counts: number[] = []
        for (const [text, values] of changes) counts.push((await sql.query(text, withoutNul(values))).count)
        return counts
      }),
    close: () => database.close(),
  }
}

/** PostgreSQL's text holds no U+0000: one in the name of an activity would refuse all activities of its transaction. */
const withoutNul = (values: readonly SqlValue[] = []): readonly SqlValue[] =>
  values.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value))

/**
 * If several processes start together, one performs the steps and the others wait for it. An account that may not create
 * tables can use those that are up to date.
 */
async function migrate(database: PostgresDatabase): Promise<void> {
  if ((await versionOf(database)) === migrations.length) return
  await database.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1)', [lock])
    const known = await versionOf(sql)
    if (known > migrations.length)
      throw new Error(`The database was written by a newer Sluice (schema ${known}); run that version or newer`)
    await sql.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await sql.query(`CREATE TABLE IF NOT EXISTS ${schema}.versions (version integer PRIMARY KEY)`)
    for (const [at, step] of migrations.entries()) {
      if (at < known) continue
      await sql.query(step)
      await sql.query(`INSERT INTO ${schema}.versions VALUES ($1)`, [at + 1])
    }
  })
}

async function versionOf(sql: PostgresSql): Promise<number> {
  const [table] = (await sql.query(`SELECT to_regclass('${schema}.versions') IS NOT NULL AS exists`)).rows
  if (table?.['exists'] !== true) return 0
  const [row] = (await sql.query(`SELECT coalesce(max(version), 0) AS version FROM ${schema}.versions`)).rows
  return Number(row?.['version'])
}
