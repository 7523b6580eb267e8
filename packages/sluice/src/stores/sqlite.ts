/**
 * The store of one machine: a SQLite file that several processes may share. Not for network file systems, which WAL
 * does not survive.
 *
 * Entries are committed with `synchronous = FULL`: what was acknowledged survives a kill −9 and a power cut. That is one
 * fsync a commit, so writes that come together are committed together. Buckets go without (`NORMAL`): losing the last
 * ones in a power cut loosens a limit for as long as a bucket takes to fill, and waiting for the disk on every call would
 * cost more than the call.
 */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import type { Key, Store } from '../core/store.ts'
import {
  checkedValue,
  decodeKey,
  encodeKey,
  endOfPrefix,
  fullAt,
  takeToken,
  toPageSize,
  toSequence,
  toTtlMs,
} from './memory.ts'
import { openStoreFile } from './sqlite-file.ts'
import { createRetry } from './sqlite-retry.ts'
import { createWriter } from './sqlite-writer.ts'

export type { DatabaseFormat } from './sqlite-file.ts'
export { openDatabase, toUnavailable } from './sqlite-file.ts'
export type { RetryWhileBusy } from './sqlite-retry.ts'
export { createRetry } from './sqlite-retry.ts'
export type { Writer } from './sqlite-writer.ts'
export { createWriter } from './sqlite-writer.ts'

/** The clock, for tests. */
export interface SqliteOptions {
  /** By which entries expire and buckets fill. Processes that share a file share the machine's. */
  readonly clock?: Clock
}

/** A store in a file. */
export interface SqliteStore extends Store {
  /** After the writes under way. Verbs called later are refused with `storeUnavailable`. */
  close(): Promise<void>
}

/** After so many writes, so many expired rows go at once: always faster than they come, never a long stop. */
const sweepEvery = 64
const sweepBatch = 256

/** A store in a SQLite file, which it makes; processes of one machine may share it. */
export function sqliteStore(path: string, { clock = systemClock }: SqliteOptions = {}): SqliteStore {
  const { durable, quick, close } = openStoreFile(path)
  const live = '(until IS NULL OR until > ?)'
  const upsert =
    'INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, until = excluded.until'
  const sql = {
    get: durable.prepare(`SELECT value FROM entries WHERE key = ? AND ${live}`),
    put: durable.prepare(upsert),
    create: durable.prepare(`${upsert} WHERE until <= ?`),
    replace: durable.prepare(`UPDATE entries SET value = ?, until = ? WHERE key = ? AND value = ? AND ${live}`),
    delete: durable.prepare('DELETE FROM entries WHERE key = ?'),
    next: durable.prepare('UPDATE appended SET n = n + 1 RETURNING n'),
    // One lower bound: of two, SQLite seeks to the first alone and reads everything up to the second, on every page.
    list: durable.prepare(
      `SELECT key, value FROM entries WHERE key > max(?, ?) AND key < ? AND ${live} ORDER BY key LIMIT ?`,
    ),
    sweep: durable.prepare(
      `DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE until <= ? LIMIT ${sweepBatch})`,
    ),
    level: quick.prepare('SELECT left, at FROM buckets WHERE key = ?'),
    fill: quick.prepare('INSERT INTO buckets VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    draw: quick.prepare('UPDATE buckets SET left = ?, at = ?, full_at = ? WHERE key = ? AND left = ? AND at = ?'),
    forget: quick.prepare(
      `DELETE FROM buckets WHERE key IN (SELECT key FROM buckets WHERE full_at <= ? LIMIT ${sweepBatch})`,
    ),
  }
  let [writes, draws] = [0, 0]
  const writer = createWriter(durable, () => {
    if (writes < sweepEvery) return
    sql.sweep.run(clock.now())
    writes = 0
  })
  const write = <T>(work: () => T): Promise<T> => {
    writes++
    return writer.write(work)
  }

  // Readers of a WAL file do not wait for writers: what locks them out is another lock.
  const [read, drawing] = [createRetry(), createRetry()]

  const untilOf = (life: number): number | null => (life === Number.POSITIVE_INFINITY ? null : clock.now() + life)

  return {
    async get(key) {
      const name = encodeKey(key)
      const row = await read(() => sql.get.get(name, clock.now()))
      return row && String(row['value'])
    },
    async set(key, value, ttlMs) {
      const [name, text, life] = [encodeKey(key), checkedValue(value), toTtlMs(ttlMs)]
      await write(() => sql.put.run(name, text, untilOf(life)))
    },
    async swap(key, from, to, ttlMs) {
      const [name, text, life] = [encodeKey(key), checkedValue(to), toTtlMs(ttlMs)]
      if (from === undefined) return write(() => sql.create.run(name, text, untilOf(life), clock.now()).changes === 1)
      const expected = checkedValue(from)
      return write(() => sql.replace.run(text, untilOf(life), name, expected, clock.now()).changes === 1)
    },
    async delete(key) {
      const name = encodeKey(key)
      await write(() => sql.delete.run(name))
    },
    async append(key, value, ttlMs) {
      encodeKey(key)
      const [text, life] = [checkedValue(value), toTtlMs(ttlMs)]
      return write((): Key => {
        const at: Key = [...key, toSequence(Number(sql.next.get()?.['n']))]
        sql.put.run(encodeKey(at), text, untilOf(life))
        return at
      })
    },
    async take(key, bucket) {
      const name = encodeKey(key)
      return drawing(() => {
        if (++draws % sweepEvery === 0) sql.forget.run(clock.now())
        // Written only where the level still stands as it was read: without a lock, and a refusal writes nothing.
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
      const [below, size] = [encodeKey(prefix), toPageSize(limit)]
      const from = after ? encodeKey(after) : below
      const rows = await read(() => sql.list.all(below, from, endOfPrefix(below), clock.now(), size))
      return rows.map((row) => ({ key: decodeKey(String(row['key'])), value: String(row['value']) }))
    },
    async close() {
      await writer.flush()
      close()
    },
  }
}
