/** The archives there are, each opened empty: a SQLite file, a schema of a real PostgreSQL, PGlite with vectors. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import pg from 'pg'
import { fakeClock } from 'sluice/testing'
import type { PostgresServer } from '../../../test/kit/processes/postgres.ts'
import { startPostgres } from '../../../test/kit/processes/postgres.ts'
import type { Archive } from '../src/archive.ts'
import { postgresArchive } from '../src/postgres/archive.ts'
import { connectPostgres } from '../src/postgres/connect.ts'
import type { Postgres } from '../src/postgres/sql.ts'
import { sqliteArchive } from '../src/sqlite/archive.ts'
import { threadArchive } from '../src/sqlite/thread.ts'
import { noon } from './server.fixture.ts'

export interface ArchiveFixture {
  /** Vectors can be kept here. */
  readonly vectors: boolean
  /** One archive without anything in it, and again what is in it. */
  open(): Promise<Archive>
  reopen(): Promise<Archive>
  close(): Promise<void>
}

const clock = fakeClock(noon)

export function sqliteArchiveFixture(): ArchiveFixture {
  let folder = ''
  const at = (): Archive => sqliteArchive(join(folder, 'memory.db'), clock)
  return {
    vectors: true,
    async open() {
      rmSync(folder, { recursive: true, force: true })
      folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
      return at()
    },
    reopen: async () => at(),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** As the server opens it. */
export function threadArchiveFixture(): ArchiveFixture {
  let folder = ''
  const at = (): Promise<Archive> => threadArchive(join(folder, 'memory.db'))
  return {
    vectors: true,
    open() {
      rmSync(folder, { recursive: true, force: true })
      folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
      return at()
    },
    reopen: at,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Debian's PostgreSQL has no vectors unless its package pgvector is there too. */
export async function postgresArchiveFixture(server?: PostgresServer): Promise<ArchiveFixture> {
  const own = server ?? (await startPostgres())
  const at = (): Promise<Archive> => connectPostgres(own.url, clock)
  const empty = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: own.url })
    await client.connect()
    await client.query('DROP SCHEMA IF EXISTS sluice_memory CASCADE')
    await client.end()
  }
  return {
    vectors: false,
    async open() {
      await empty()
      return at()
    },
    reopen: at,
    close: () => own.stop(),
  }
}

export async function pgliteArchiveFixture(): Promise<ArchiveFixture> {
  const database = await PGlite.create({ extensions: { vector } })
  const postgres: Postgres = {
    query: async (text, values = []) => (await database.query<Record<string, unknown>>(text, [...values])).rows,
    transaction: (work) =>
      database.transaction((inner) =>
        work({
          query: async (text, values = []) => (await inner.query<Record<string, unknown>>(text, [...values])).rows,
        }),
      ),
    close: async () => {},
  }
  return {
    vectors: true,
    async open() {
      await database.exec('DROP SCHEMA IF EXISTS sluice_memory CASCADE')
      return postgresArchive(postgres, clock)
    },
    reopen: () => postgresArchive(postgres, clock),
    close: () => database.close(),
  }
}
