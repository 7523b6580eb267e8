/** The tables of a memory in PostgreSQL, in a separate schema. */

import { onlyWords } from '../words.ts'
import type { Postgres, Sql } from './sql.ts'

/** Step n migrates the schema from version n to n + 1. A released step never changes; new steps are appended. */
const migrations: readonly (string | ((sql: Sql) => Promise<void>))[] = [
  `CREATE TABLE sluice_memory.facts (name text PRIMARY KEY, value text NOT NULL);
   CREATE TABLE sluice_memory.workspaces (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL, id text NOT NULL,
     name text NOT NULL, description text NOT NULL, created bigint NOT NULL, UNIQUE (tenant, id));
   CREATE TABLE sluice_memory.memories (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     workspace bigint NOT NULL REFERENCES sluice_memory.workspaces ON DELETE CASCADE,
     id uuid NOT NULL, at bigint NOT NULL, source text, tags text[] NOT NULL, metadata text NOT NULL, text text NOT NULL,
     UNIQUE (workspace, id));
   CREATE INDEX memories_at ON sluice_memory.memories (workspace, at DESC, n DESC);
   CREATE TABLE sluice_memory.chunks (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace bigint NOT NULL,
     memory bigint NOT NULL REFERENCES sluice_memory.memories ON DELETE CASCADE,
     start integer NOT NULL, stop integer NOT NULL, embedded smallint NOT NULL DEFAULT 0, words tsvector NOT NULL);
   CREATE INDEX chunks_memory ON sluice_memory.chunks (memory);
   CREATE INDEX chunks_workspace ON sluice_memory.chunks (workspace);
   CREATE INDEX chunks_words ON sluice_memory.chunks USING gin (words);
   CREATE INDEX chunks_unembedded ON sluice_memory.chunks (workspace, n) WHERE embedded = 0;
   CREATE TABLE sluice_memory.entities (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     workspace bigint NOT NULL REFERENCES sluice_memory.workspaces ON DELETE CASCADE,
     id uuid NOT NULL DEFAULT gen_random_uuid(), folded text NOT NULL, name text NOT NULL, type text NOT NULL,
     UNIQUE (workspace, folded));
   CREATE TABLE sluice_memory.relations (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     workspace bigint NOT NULL REFERENCES sluice_memory.workspaces ON DELETE CASCADE,
     source bigint NOT NULL REFERENCES sluice_memory.entities ON DELETE CASCADE, type text NOT NULL,
     target bigint NOT NULL REFERENCES sluice_memory.entities ON DELETE CASCADE, confidence double precision NOT NULL,
     UNIQUE (workspace, source, type, target));
   CREATE INDEX relations_target ON sluice_memory.relations (workspace, target);`,
  // PostgreSQL's own English drops words such as "not" and "now", and "The Who" completely.
  `CREATE TEXT SEARCH DICTIONARY sluice_memory.stems (TEMPLATE = pg_catalog.snowball, LANGUAGE = english);
   CREATE TEXT SEARCH CONFIGURATION sluice_memory.words (COPY = pg_catalog.english);
   ALTER TEXT SEARCH CONFIGURATION sluice_memory.words
     ALTER MAPPING REPLACE pg_catalog.english_stem WITH sluice_memory.stems;`,
  indexWords,
]

/** Few, because a text may have ten million characters. */
const pageRows = 20

/** Indexes the words of all memories again. Earlier versions left the words to PostgreSQL's parser. */
async function indexWords(sql: Sql): Promise<void> {
  for (let last: unknown = 0; ; ) {
    const page = await sql.query(
      `SELECT n, text FROM sluice_memory.memories WHERE n > $1 ORDER BY n LIMIT ${pageRows}`,
      [last],
    )
    if (page.length === 0) return
    last = page.at(-1)?.['n']
    const texts = new Map(page.map(({ n, text }) => [n, String(text)]))
    const chunks = await sql.query(
      'SELECT n, memory, start, stop FROM sluice_memory.chunks WHERE memory = ANY($1::bigint[])',
      [[...texts.keys()]],
    )
    await sql.query(
      `UPDATE sluice_memory.chunks c SET words = to_tsvector('sluice_memory.words', t.words)
       FROM unnest($1::bigint[], $2::text[]) AS t (n, words) WHERE c.n = t.n`,
      [
        chunks.map(({ n }) => n),
        chunks.map(({ memory, start, stop }) =>
          onlyWords((texts.get(memory) ?? '').slice(Number(start), Number(stop))),
        ),
      ],
    )
  }
}

/** Any number that no other advisory lock uses. */
const lock = 0x536c4d65

/**
 * If several processes start together, one performs each step and the others wait for it. An account that may not create
 * tables can use those that are up to date.
 */
export async function migrate(postgres: Postgres): Promise<void> {
  if ((await versionOf(postgres)) === migrations.length) return
  await postgres.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock($1)', [lock])
    const known = await versionOf(sql)
    if (known > migrations.length)
      throw new Error(`The database was written by a newer Sluice (schema ${known}); run that version or newer`)
    await sql.query('CREATE SCHEMA IF NOT EXISTS sluice_memory')
    await sql.query('CREATE TABLE IF NOT EXISTS sluice_memory.versions (version integer PRIMARY KEY)')
    for (const [at, step] of migrations.entries()) {
      if (at < known) continue
      if (typeof step === 'string')
        for (const statement of step.split(/;\s*$/m)) statement.trim() !== '' && (await sql.query(statement))
      else await step(sql)
      await sql.query('INSERT INTO sluice_memory.versions VALUES ($1)', [at + 1])
    }
  })
}

async function versionOf(sql: Sql): Promise<number> {
  if (!(await has(sql, 'sluice_memory.versions'))) return 0
  const [row] = await sql.query('SELECT coalesce(max(version), 0) AS version FROM sluice_memory.versions')
  return Number(row?.['version'])
}

async function has(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql.query('SELECT to_regclass($1) IS NOT NULL AS exists', [name])
  return row?.['exists'] === true
}

/** Vectors need the extension `vector`: installed, or installable by this user. */
export async function makeVectors(sql: Sql): Promise<boolean> {
  try {
    await sql.query('CREATE EXTENSION IF NOT EXISTS vector')
  } catch {
    // Not available, or only an administrator may install it.
    return false
  }
  // Made last, so with it the table is there too.
  if (await has(sql, 'sluice_memory.vectors_workspace')) return true
  await sql.query(
    `CREATE TABLE IF NOT EXISTS sluice_memory.vectors (
       piece bigint PRIMARY KEY REFERENCES sluice_memory.chunks ON DELETE CASCADE,
       workspace bigint NOT NULL, vector vector NOT NULL)`,
  )
  await sql.query('CREATE INDEX IF NOT EXISTS vectors_workspace ON sluice_memory.vectors (workspace)')
  return true
}
