/** The archives, each opened empty: a SQLite file, a schema of a real PostgreSQL, and PGlite with vectors. */

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
  /** Whether this archive can store vectors. */
  readonly vectors: boolean
  /** Opens the archive: empty the first time, then with its contents. */
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

/** Opens it in a thread, as the server does. */
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

/** Debian's PostgreSQL has no vectors without its package pgvector. */
export async function postgresArchiveFixture(server?: PostgresServer): Promise<ArchiveFixture> {
  const instance = server ?? (await startPostgres())
  const at = (): Promise<Archive> => connectPostgres(instance.url, clock)
  const empty = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: instance.url })
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
    close: () => instance.stop(),
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
