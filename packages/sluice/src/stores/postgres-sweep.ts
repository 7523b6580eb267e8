/**
 * Deletes what has expired, in slices, beside the verbs: more rows than the writes before a slice can have added, so that
 * it keeps up. Rows that another process is changing or deleting are skipped.
 */

import type { Statement } from './postgres-connection.ts'
import type { PostgresPool } from './postgres-pool.ts'

export interface Sweeper {
  wrote(): void
  /** After `count` takes from buckets. */
  took(count: number): void
}

const writesPerSlice = 64
const slice = 256

export function createSweeper(pool: PostgresPool, schema: string): Sweeper {
  const entries: Statement = {
    name: 'sweep',
    text: `DELETE FROM ${schema}.entries WHERE expires_at <= now() AND key IN (
      SELECT key FROM ${schema}.entries WHERE expires_at <= now() ORDER BY expires_at LIMIT ${slice} FOR UPDATE SKIP LOCKED)`,
  }
  /** Goes round the table in the order of its keys. Returns the last key it looked at, or '' at the end. */
  const buckets: Statement = {
    name: 'sweep buckets',
    text: `WITH seen AS (SELECT key, full_at FROM ${schema}.buckets WHERE key > $1 ORDER BY key LIMIT ${slice}),
      quick AS (SELECT set_config('synchronous_commit', 'off', true)),
      full_again AS (SELECT b.key FROM ${schema}.buckets AS b, quick
        WHERE b.key IN (SELECT key FROM seen WHERE full_at <= extract(epoch FROM now()) * 1000)
          AND b.full_at <= extract(epoch FROM now()) * 1000 FOR UPDATE OF b SKIP LOCKED),
      swept AS (DELETE FROM ${schema}.buckets WHERE key IN (SELECT key FROM full_again))
      SELECT CASE count(*) WHEN ${slice} THEN max(key) ELSE '' END FROM seen`,
  }
  let [writes, takes, cursor] = [0, 0, '']
  return {
    wrote() {
      if (++writes % writesPerSlice === 0) pool.run(entries).catch(() => {})
    },
    took(count) {
      takes += count
      if (takes < writesPerSlice) return
      takes = 0
      pool.run(buckets, [cursor]).then(
        ([row]) => {
          cursor = row?.[0] ?? ''
        },
        // The next slice tries again.
        () => {},
      )
    },
  }
}
