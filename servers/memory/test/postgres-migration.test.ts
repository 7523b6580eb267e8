/** A database of an earlier version, opened by this one. PGlite is PostgreSQL in this process. */

import { randomUUID } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { postgresArchive } from '../src/postgres/archive.ts'
import type { Postgres, Sql } from '../src/postgres/sql.ts'
import { wordsOf } from '../src/words.ts'

test('memories of version 1 are found by the words that its index did not have', { timeout: 60_000 }, async () => {
  const database = await PGlite.create()
  onTestFinished(() => database.close())
  const sqlOf = (on: Pick<PGlite, 'query'>): Sql => ({
    query: async (text, values = []) => (await on.query<Record<string, unknown>>(text, [...values])).rows,
  })
  const postgres: Postgres = {
    ...sqlOf(database),
    transaction: (work) => database.transaction((inner) => work(sqlOf(inner as never))),
    close: async () => {},
  }
  const open = async () => (await postgresArchive(postgres, fakeClock())).workspace('ann', 'default')
  const workspace = await open()
  const texts = Array.from({ length: 50 }, (_, n) => `Mail ${n} of anna${n}@example.com 🏠 in src/file${n}.rs`)
  const chunks = (text: string) => [
    { start: 0, end: 30 },
    { start: 30, end: text.length },
  ]
  await workspace?.add(
    texts.map((text, at) => {
      return { id: randomUUID(), text, source: undefined, tags: [], metadata: '{}', at, chunks: chunks(text) }
    }),
  )
  await database.exec(`
    UPDATE sluice_memory.chunks SET words = '';
    DROP TEXT SEARCH CONFIGURATION sluice_memory.words; DROP TEXT SEARCH DICTIONARY sluice_memory.stems;
    DELETE FROM sluice_memory.versions WHERE version > 1`)
  const reopened = await open()
  for (const query of ['anna0', 'anna49', 'file49']) {
    const hits = (await reopened?.searchText(wordsOf(query), { tags: [] }, 9)) ?? []
    expect(
      hits.map(({ memory }) => memory),
      query,
    ).toEqual([query === 'anna0' ? 1 : 50])
  }
})
