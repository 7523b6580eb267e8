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
   CREATE FUNCTION ${schema}.append(log text, texts text[], ttls float8[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
   DECLARE
     part text;
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.append ' || log, 0));
     FOR i IN 1 .. array_length(texts, 1) LOOP
       part := lpad(nextval('${schema}.appended')::text, 16, '0');
       INSERT INTO ${schema}.entries
         VALUES (log || part || chr(1), texts[i], clock_timestamp() + ttls[i] * interval '1 millisecond')
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at;
       RETURN NEXT part;
     END LOOP;
   END $$;

   -- Takes up to counts[i] tokens from each bucket: how many it got, and how long the others have to wait. The arithmetic of
   -- takeToken in memory.ts, by this server's clock. A refusal writes nothing. Not synced to the disk: a crash of the server
   -- may undo the last moments, which loosens a limit for as long as a bucket takes to fill. The names must be sorted, or two
   -- calls could wait for each other.
   CREATE FUNCTION ${schema}.take(names text[], bursts float8[], rates float8[], counts float8[])
     RETURNS TABLE (granted float8, wait_ms float8) LANGUAGE plpgsql AS $$
   DECLARE
     enough CONSTANT float8 := 1 - 1e-6;
     was record;
     filled float8;
     now_ms float8;
   BEGIN
     PERFORM set_config('synchronous_commit', 'off', true);
     FOR i IN 1 .. array_length(names, 1) LOOP
       LOOP
         SELECT level, at INTO was FROM ${schema}.buckets WHERE key = names[i];
         now_ms := extract(epoch FROM clock_timestamp()) * 1000;
         filled := CASE WHEN was IS NULL THEN bursts[i]
           ELSE least(bursts[i], was.level + greatest(0, now_ms - was.at) / 1000 * rates[i]) END;
         granted := greatest(0, least(counts[i], floor(filled + 1 - enough)));
         filled := filled - granted;
         wait_ms := greatest(1, ceil((enough - filled) / rates[i] * 1000));
         IF was IS NULL THEN
           INSERT INTO ${schema}.buckets VALUES (names[i], filled, now_ms, now_ms + (bursts[i] - filled) / rates[i] * 1000)
             ON CONFLICT DO NOTHING;
         ELSE
           EXIT WHEN granted = 0 AND now_ms >= was.at;
           -- A clock that was set back must not starve the bucket until it has caught up.
           filled := CASE granted WHEN 0 THEN was.level ELSE filled END;
           UPDATE ${schema}.buckets
             SET level = filled, at = now_ms, full_at = now_ms + (bursts[i] - filled) / rates[i] * 1000
             WHERE key = names[i] AND level = was.level AND at = was.at;
         END IF;
         -- Not found: another call was first, and this one looks again.
         EXIT WHEN FOUND;
       END LOOP;
       RETURN NEXT;
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
