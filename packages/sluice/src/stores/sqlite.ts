/**
 * The store of one machine: a SQLite file that several processes may share. Not for network file systems, because WAL
 * does not work on them.
 *
 * Entries are acknowledged when they are on the disk, so they survive a kill −9 and a power cut. Concurrent writes are
 * committed and synced together. Takes from buckets do not wait for the disk. A power cut that loses the last ones
 * loosens a limit until the bucket is full again. Waiting for the disk on every call would cost more than the call.
 */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import type { Key, Store } from '../core/store.ts'
import {
  checkedValue,
  decodeKey,
  encodeKey,
  fullAt,
  rangeOf,
  takeToken,
  toPageSize,
  toSequence,
  toTtlMs,
} from './memory.ts'
import { type DatabaseFormat, openDatabase } from './sqlite-file.ts'
import { createRetry } from './sqlite-retry.ts'
import { createWriter } from './sqlite-writer.ts'

export type { DatabaseFormat } from './sqlite-file.ts'
export { openDatabase, toUnavailable } from './sqlite-file.ts'
export type { RetryWhileBusy } from './sqlite-retry.ts'
export { createRetry } from './sqlite-retry.ts'
export type { Writer, WriterOptions } from './sqlite-writer.ts'
export { createWriter } from './sqlite-writer.ts'

/** `key` is text in the order of `encodeKey`, in the b-tree itself (WITHOUT ROWID), so that `list` is one range scan. */
const format: DatabaseFormat = {
  /** "Slui". */
  applicationId: 0x536c7569,
  migrations: [
    `PRAGMA application_id = ${0x536c7569};
   CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
   CREATE INDEX entries_until ON entries (until) WHERE until IS NOT NULL;
   CREATE TABLE buckets (key TEXT PRIMARY KEY, left REAL NOT NULL, at INTEGER NOT NULL, full_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX buckets_full_at ON buckets (full_at);
   CREATE TABLE appended (n INTEGER NOT NULL);
   INSERT INTO appended VALUES (0);`,
  ],
}

/** Options of a SQLite store. */
export interface SqliteOptions {
  /**
   * The clock by which entries expire and buckets fill. By default that of the machine, which all processes of a file
   * share.
   */
  readonly clock?: Clock
}

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /** Closes the file after pending writes. Later calls are refused with `storeUnavailable`. */
  close(): Promise<void>
}

/**
 * After `sweepEvery` writes, at most `sweepBatch` expired rows are deleted. That is faster than they can be added,
 * without a long pause.
 */
const sweepEvery = 64
const sweepBatch = 256

/** Opens a store in a SQLite file, and creates the file if needed. Processes of one machine may share it. */
export function sqliteStore(path: string, { clock = systemClock }: SqliteOptions = {}): SqliteStore {
  const database = openDatabase(path, format)
  const live = '(until IS NULL OR until > ?)'
  const upsert =
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, until = excluded.until'
  const sql = {
    get: database.prepare(`SELECT value FROM entries WHERE key = ? AND ${live}`),
    put: database.prepare(upsert),
    create: database.prepare(`${upsert} WHERE until <= ?`),
    replace: database.prepare(`UPDATE entries SET value = ?, until = ? WHERE key = ? AND value = ? AND ${live}`),
    delete: database.prepare('DELETE FROM entries WHERE key = ?'),
    next: database.prepare('UPDATE appended SET n = n + 1 RETURNING n'),
    list: database.prepare(`SELECT key, value FROM entries WHERE key > ? AND key < ? AND ${live} ORDER BY key LIMIT ?`),
    sweep: database.prepare(
      `DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE until <= ? LIMIT ${sweepBatch})`,
    ),
    level: database.prepare('SELECT left, at FROM buckets WHERE key = ?'),
    fill: database.prepare('INSERT INTO buckets VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    draw: database.prepare('UPDATE buckets SET left = ?, at = ?, full_at = ? WHERE key = ? AND left = ? AND at = ?'),
    forget: database.prepare(
      `DELETE FROM buckets WHERE key IN (SELECT key FROM buckets WHERE full_at <= ? LIMIT ${sweepBatch})`,
    ),
  }
  let [writes, takes] = [0, 0]
  const writer = createWriter(database, {
    beforeCommit() {
      if (writes < sweepEvery) return
      sql.sweep.run(clock.now())
      writes = 0
    },
  })
  const write = <T>(work: () => T): Promise<T> => {
    writes++
    return writer.write(work)
  }

  // Readers of a WAL file do not wait for writers. Only another lock blocks them, so they have a separate retry.
  const [read, retryTake] = [createRetry(), createRetry()]

  const untilOf = (ttl: number): number | null => (ttl === Number.POSITIVE_INFINITY ? null : clock.now() + ttl)

  return {
    async get(key) {
      const name = encodeKey(key)
      const row = await read(() => sql.get.get(name, clock.now()))
      return row && String(row['value'])
    },
    async set(key, value, ttlMs) {
      const [name, text, ttl] = [encodeKey(key), checkedValue(value), toTtlMs(ttlMs)]
      await write(() => sql.put.run(name, text, untilOf(ttl)))
    },
    async swap(key, from, to, ttlMs) {
      const [name, text, ttl] = [encodeKey(key), checkedValue(to), toTtlMs(ttlMs)]
      if (from === undefined) return write(() => sql.create.run(name, text, untilOf(ttl), clock.now()).changes === 1)
      const expected = checkedValue(from)
      return write(() => sql.replace.run(text, untilOf(ttl), name, expected, clock.now()).changes === 1)
    },
    async delete(key) {
      const name = encodeKey(key)
      await write(() => sql.delete.run(name))
    },
    async append(key, value, ttlMs) {
      encodeKey(key)
      const [text, ttl] = [checkedValue(value), toTtlMs(ttlMs)]
      return write((): Key => {
        const at: Key = [...key, toSequence(Number(sql.next.get()?.['n']))]
        sql.put.run(encodeKey(at), text, untilOf(ttl))
        return at
      })
    },
    async take(key, bucket) {
      const name = encodeKey(key)
      return retryTake(() => {
        writer.assertIntact()
        if (++takes % sweepEvery === 0) sql.forget.run(clock.now())
        // Written only if the level is still the one that was read. This needs no lock, and a refusal writes nothing.
        for (;;) {
          const row = sql.level.get(name)
          const before = row && { tokens: Number(row['left']), updatedAt: Number(row['at']) }
          const { waitMs, level } = takeToken(before, bucket, clock.now())
          if (level === before) return waitMs
          const after = [level.tokens, level.updatedAt, fullAt(level, bucket)] as const
          const { changes } = before
            ? sql.draw.run(...after, name, before.tokens, before.updatedAt)
            : sql.fill.run(name, ...after)
          if (changes === 1) return waitMs
        }
      })
    },
    async list(prefix, { limit, after }) {
      const [{ from, end }, size] = [rangeOf(prefix, after), toPageSize(limit)]
      const rows = await read(() => sql.list.all(from, end, clock.now(), size))
      return rows.map((row) => ({ key: decodeKey(String(row['key'])), value: String(row['value']) }))
    },
    close: () => writer.close(),
  }
}
