/**
 * The tables and functions of a store in PostgreSQL, and how a database is brought up to date.
 *
 * `entries` holds values by encoded key, in byte order, so that `list` is a range of the primary key. `buckets` has no
 * second index: PostgreSQL then rewrites a row in place, and a bucket is written with every call.
 */

import { RpcError } from '../core/error.ts'
import type { PostgresConnection, Statement } from './postgres-connection.ts'
import { isMissingTable } from './postgres-errors.ts'

/** Step n takes a schema from version n to n + 1. A released step never changes; a new one is added. */
const migrations = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.entries (
     key text COLLATE "C" PRIMARY KEY, value text NOT NULL, expires_at timestamptz);
   CREATE INDEX entries_expires_at ON ${schema}.entries (expires_at) WHERE expires_at IS NOT NULL;
   CREATE TABLE ${schema}.buckets (
     key text COLLATE "C" PRIMARY KEY, level float8 NOT NULL, at float8 NOT NULL, full_at float8 NOT NULL)
     WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
   CREATE SEQUENCE ${schema}.appended;

   -- The position that each value got. The lock is held until the commit: positions of one log become visible in order,
   -- so a reader that goes on after the last position it saw misses nothing.
   CREATE FUNCTION ${schema}.append(log text, texts text[], lives float8[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
   DECLARE
     part text;
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.append ' || log, 0));
     FOR i IN 1 .. array_length(texts, 1) LOOP
       part := lpad(nextval('${schema}.appended')::text, 16, '0');
       INSERT INTO ${schema}.entries
         VALUES (log || part || chr(1), texts[i], clock_timestamp() + lives[i] * interval '1 millisecond')
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at;
       RETURN NEXT part;
     END LOOP;
   END $$;

   -- The arithmetic of takeToken in memory.ts, by this server's clock. A refusal writes nothing. Not synced to the disk: a
   -- crash of the server may undo the last moments, which loosens a limit for as long as a bucket takes to fill.
   CREATE FUNCTION ${schema}.take(name text, burst float8, rate float8) RETURNS float8 LANGUAGE plpgsql AS $$
   DECLARE
     enough CONSTANT float8 := 1 - 1e-6;
     was record;
     filled float8;
     now_ms float8;
   BEGIN
     LOOP
       SELECT level, at INTO was FROM ${schema}.buckets WHERE key = name;
       now_ms := extract(epoch FROM clock_timestamp()) * 1000;
       IF NOT FOUND THEN
         PERFORM set_config('synchronous_commit', 'off', true);
         INSERT INTO ${schema}.buckets VALUES (name, burst - 1, now_ms, now_ms + 1000 / rate) ON CONFLICT DO NOTHING;
         IF FOUND THEN RETURN 0; END IF;
         CONTINUE;
       END IF;
       filled := least(burst, was.level + greatest(0, now_ms - was.at) / 1000 * rate);
       IF filled < enough AND now_ms >= was.at THEN
         RETURN greatest(1, ceil((enough - filled) / rate * 1000));
       END IF;
       PERFORM set_config('synchronous_commit', 'off', true);
       -- Only where the level is still what was read; otherwise another call was first, and this one looks again.
       IF filled >= enough THEN
         UPDATE ${schema}.buckets SET level = filled - 1, at = now_ms, full_at = now_ms + (burst - filled + 1) / rate * 1000
           WHERE key = name AND level = was.level AND at = was.at;
         IF FOUND THEN RETURN 0; END IF;
       ELSE
         -- A clock that was set back must not starve the bucket until it has caught up.
         UPDATE ${schema}.buckets SET at = now_ms, full_at = now_ms + (burst - level) / rate * 1000
           WHERE key = name AND level = was.level AND at = was.at;
         IF FOUND THEN RETURN greatest(1, ceil((enough - filled) / rate * 1000)); END IF;
       END IF;
     END LOOP;
   END $$;`,
]

/** A step may rewrite a large table. */
export const migrationMs = 60_000

/**
 * Brings a schema up to date, one transaction a step: an interruption leaves the version before or after a step, and of
 * several processes one does each step while the others wait. An account that may not create tables can use a schema that
 * is already up to date.
 */
export async function migrate(
  connection: PostgresConnection,
  schema: string,
  steps: readonly string[] = migrations(schema),
): Promise<void> {
  const statement: Statement = {
    name: 'version',
    text: `SELECT coalesce(max(version), 0)::text FROM ${schema}.versions`,
  }
  const versionOf = async (): Promise<number> => Number((await connection.run(statement))[0]?.[0])
  for (;;) {
    const known = await versionOf().catch((thrown: unknown) => {
      if (isMissingTable(thrown)) return 0
      throw thrown
    })
    if (known > steps.length)
      throw new RpcError(
        'storeUnavailable',
        `The store was written by a newer Sluice (schema ${known}, this one knows ${steps.length}); run that version or newer`,
      )
    if (known === steps.length) return
    await connection.script(`BEGIN; SET LOCAL statement_timeout = ${migrationMs};
      SELECT pg_advisory_xact_lock(hashtextextended('sluice migration of ${schema}', 0))`)
    await connection.script(`CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS ${schema}.versions (version integer PRIMARY KEY)`)
    // Read again: another process may have done this step before this one got the lock.
    const version = await versionOf()
    const step = steps[version]
    if (step !== undefined) await connection.script(`${step}; INSERT INTO ${schema}.versions VALUES (${version + 1})`)
    await connection.script('COMMIT')
  }
}
