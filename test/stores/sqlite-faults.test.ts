/** A SQLite file that is new, old, foreign, locked, damaged, full, read-only or in the middle of a migration. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import type { SqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'
import { migrate } from '../../packages/sluice/src/stores/sqlite-file.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'
import { enlargeDisk, mountFailingDisk, mountSmallDisk } from '../kit/processes/small-disk.ts'
import { holdLock } from '../kit/processes/sqlite-lock.ts'
import { heldLock } from './held-lock.ts'
import { steps } from './migrate-steps.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const aPath = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}
const open = (path: string, clock = fakeClock(1_000)): SqliteStore => {
  const store = sqliteStore(path, { clock })
  closing.push(() => store.close())
  return store
}
/** Asks the file itself, past the store. */
const ask = (path: string, sql: string): readonly unknown[] => {
  const database = new DatabaseSync(path)
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0])
  } finally {
    database.close()
  }
}
const migrateChild = (path: string, length: 'long' | 'short') => {
  const child = spawn(process.execPath, [new URL('migrate-child.fixture.ts', import.meta.url).pathname, path, length], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, exit: once(child, 'exit') }
}

test('a migration killed −9 half-way leaves the file unchanged, and is done at the next start', async () => {
  const path = aPath()
  const { child, exit } = migrateChild(path, 'long')
  const [said] = await once(child.stdout, 'data')
  expect(String(said)).toBe('half\n')
  child.kill('SIGKILL')
  await exit
  expect(ask(path, 'PRAGMA user_version')).toEqual([1])
  expect(ask(path, 'SELECT name FROM sqlite_schema')).toEqual(['old'])
  expect(ask(path, 'SELECT n FROM old')).toEqual([1, 2, 3])
  const [code] = await migrateChild(path, 'short').exit
  expect(code).toBe(0)
  expect(ask(path, 'PRAGMA user_version')).toEqual([2])
  expect(ask(path, 'SELECT count(*) FROM new WHERE n < 4')).toEqual([3])
})

test('of several processes that migrate together one does each step', async () => {
  const path = aPath()
  const exits = await Promise.all(Array.from({ length: 4 }, () => migrateChild(path, 'short').exit))
  expect(exits.map(([code]) => code)).toEqual([0, 0, 0, 0])
  expect(ask(path, 'SELECT count(*) FROM new WHERE n < 4')).toEqual([3])
})

test('several processes may open a new file at the same moment', async () => {
  const folder = dirname(aPath())
  const program = new URL('open-together.fixture.ts', import.meta.url).pathname
  const begin = String(Date.now() + 1500)
  const exits = await Promise.all(
    [1, 2, 3, 4].map(() => once(spawn(process.execPath, [program, folder, begin, '50'], { stdio: 'inherit' }), 'exit')),
  )
  expect(exits.map(([code]) => code)).toEqual([0, 0, 0, 0])
})

test('a file of a newer version is refused, untouched, with what to do', async () => {
  const path = aPath()
  await open(path).set(['a'], '1')
  await closing.pop()?.()
  ask(path, 'PRAGMA user_version = 99')
  const before = readFileSync(path)
  expect(() => open(path)).toThrow(/newer Sluice \(schema 99, this version knows \d+\): run that version or newer/)
  expect(readFileSync(path).equals(before)).toBe(true)
  const database = new DatabaseSync(path)
  expect(() => migrate(database, steps(1))).toThrow('newer Sluice')
  database.close()
})

test('a foreign file is refused and left unchanged', () => {
  const path = aPath()
  ask(path, 'CREATE TABLE theirs (n)')
  expect(() => open(path)).toThrow('the database of another program')
  expect(ask(path, 'SELECT name FROM sqlite_schema')).toEqual(['theirs'])
  const text = aPath()
  writeFileSync(text, 'not a database, and long enough to have a header. '.repeat(10))
  expect(() => open(text)).toThrow('damaged, or not a SQLite file')
  for (const none of ['', ':memory:', 'file:x?mode=memory']) expect(() => sqliteStore(none)).toThrow('memoryStore')
  expect(() => open(join(text, 'below', 'a file'))).toThrow('Cannot open the store')
})

test('only its owner may read the file and what SQLite puts beside it', async () => {
  const path = aPath()
  await open(path).set(['a'], '1')
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a file that another process has locked is unavailable for writing, and can still be read', async () => {
  const path = aPath()
  const store = open(path)
  await store.set(['a'], '1')
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const writes = await Promise.allSettled([
    store.set(['a'], '2'),
    store.append(['log'], 'x'),
    store.swap(['b'], undefined, 'x'),
  ])
  for (const write of writes)
    expect(write).toMatchObject({
      reason: { reason: 'storeUnavailable', message: 'The store is locked by another process' },
    })
  await expect(store.take(['t'], { burst: 1, perSecond: 1 })).rejects.toMatchObject({ reason: 'storeUnavailable' })
  expect(await store.list([], { limit: 9 })).toEqual([{ key: ['a'], value: '1' }])
  other.exec('ROLLBACK')
  other.close()
  expect(await store.swap(['a'], '1', '2')).toBe(true)
})

test('while another process holds the write lock, calls and health checks are answered and no turn waits', {
  timeout: 60_000,
}, async () => {
  const { answered, rejected, checks, longestTurnMs, baselineTurnMs, lost } = await heldLock(1, 2500)
  expect(lost).toEqual([])
  // Writes are refused after a second; calls that only pass the rate limiter continue with its local bucket.
  expect(rejected).toBeGreaterThan(5)
  expect(answered).toBeGreaterThan(5)
  expect(checks).toBeGreaterThan(20)
  // SQLite's own waiting would take a second each. Other work of the machine shows in both figures.
  expect(longestTurnMs).toBeLessThan(2 * baselineTurnMs + 300)
})

test('a write that hits a lock is done when the lock is free, in order with later ones', async () => {
  const path = aPath()
  const store = open(path)
  await store.set(['a'], '0')
  const lock = await holdLock(path)
  const writes = [store.append(['log'], '1'), store.append(['log'], '2')]
  // The first attempt has hit the lock; the next ones wait behind it.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  writes.push(store.append(['log'], '3'))
  const taken = store.take(['t'], { burst: 1, perSecond: 1 })
  expect(await store.get(['a'])).toBe('0')
  await lock.release()
  await Promise.all(writes)
  expect(await taken).toBe(0)
  expect((await store.list(['log'], { limit: 9 })).map(({ value }) => value)).toEqual(['1', '2', '3'])
})

test('closing waits for writes that wait for a lock', async () => {
  const path = aPath()
  const store = open(path)
  const lock = await holdLock(path)
  const write = store.set(['a'], '1')
  const closed = store.close()
  await lock.release()
  await Promise.all([write, closed])
  expect(await open(path).get(['a'])).toBe('1')
})

test('a damaged file is unavailable, and the path is not revealed', async () => {
  const path = aPath()
  const store = open(path)
  await Promise.all(Array.from({ length: 300 }, (_, i) => store.set([String(i)], 'x'.repeat(500))))
  await store.close()
  const file = openSync(path, 'r+')
  const { size } = statSync(path)
  for (let at = 4096; at < size; at += 4096) writeSync(file, Buffer.alloc(200, 0xa5), 0, 200, at)
  closeSync(file)
  const thrown: unknown = await Promise.resolve()
    .then(() => open(path).list([], { limit: 1000 }))
    .catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(Error)
  if ((thrown as Error).name === 'RpcError') {
    expect(thrown).toMatchObject({ reason: 'storeUnavailable', message: 'The store is damaged' })
  } else expect(String(thrown)).toContain('it is damaged')
})

/** Writes entries of 40 KB until one is refused. Returns how many were acknowledged. */
async function fill(store: SqliteStore): Promise<{ readonly kept: number; readonly refused: unknown }> {
  for (let kept = 0; kept < 1000; kept++)
    try {
      await store.set(['k', String(kept)], 'x'.repeat(40_000))
    } catch (refused) {
      return { kept, refused }
    }
  throw new Error('The disk took everything')
}

test('a full disk refuses writes, keeps acknowledged ones, and works again with free space', async ({ skip }) => {
  const disk = mountSmallDisk(closing)
  if (!disk) return skip('needs the right to mount')
  const store = open(join(disk, 'store.db'))
  const { kept, refused } = await fill(store)
  expect(refused).toMatchObject({ reason: 'storeUnavailable', message: 'The store is on a full disk' })
  expect(await store.list(['k'], { limit: 100 })).toHaveLength(kept)
  expect(kept).toBeGreaterThan(5)
  enlargeDisk(disk)
  await store.set(['k', 'more'], 'x'.repeat(40_000))
  expect(await store.list(['k'], { limit: 100 })).toHaveLength(kept + 1)
})

test('after its disk failed a store is only read, and takes nothing from buckets', async ({ skip }) => {
  const disk = mountFailingDisk(closing)
  if (!disk) return skip('needs the right to mount')
  const store = open(join(disk, 'store.db'))
  const bucket = { burst: 100, perSecond: 1 }
  const { kept, refused } = await fill(store)
  const stopped = {
    reason: 'storeUnavailable',
    message: 'The store is stopped, because its disk failed: check the disk, then restart',
  }
  expect(refused).toMatchObject(stopped)
  expect(kept).toBeGreaterThan(5)
  await expect(store.take(['t'], bucket)).rejects.toMatchObject(stopped)
  await expect(store.delete(['k', '0'])).rejects.toMatchObject(stopped)
  expect(await store.get(['k', '0'])).toHaveLength(40_000)
})

test('a read-only disk is refused at the start, by name', async ({ skip }) => {
  const disk = mountSmallDisk(closing)
  if (!disk) return skip('needs the right to mount')
  const path = join(disk, 'store.db')
  await open(path).set(['a'], '1')
  await closing.pop()?.()
  execFileSync('mount', ['-o', 'remount,ro', disk])
  expect(() => open(path)).toThrow(/Cannot open the store .*read-only/)
})

test('expired entries and full buckets are swept, a bounded number at a time', async () => {
  const path = aPath()
  const clock = fakeClock(1_000)
  const store = open(path, clock)
  const count = (): number => Number(ask(path, 'SELECT count(*) FROM entries')[0])
  await Promise.all(Array.from({ length: 1000 }, (_, i) => store.set(['k', String(i)], 'x', 10)))
  for (let i = 0; i < 200; i++) await store.take(['t', String(i)], { burst: 1, perSecond: 1 })
  await clock.advance(10_000)
  const before = count()
  await Promise.all(Array.from({ length: 64 }, () => store.set(['one'], 'x')))
  expect(before - count()).toBeLessThanOrEqual(256)
  for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 64 }, () => store.set(['one'], 'x')))
  expect(count()).toBe(1)
  for (let i = 0; i < 64; i++) await store.take(['one'], { burst: 100, perSecond: 1 })
  expect(ask(path, 'SELECT count(*) FROM buckets')).toEqual([1])
})

test('closing finishes the writes in flight; later ones are refused', async () => {
  const path = aPath()
  const store = open(path)
  const writes = [store.set(['a'], '1'), store.append(['log'], 'x')]
  await store.close()
  await Promise.all(writes)
  const closed = { reason: 'storeUnavailable', message: 'The store is closed' }
  await expect(store.get(['a'])).rejects.toMatchObject(closed)
  await expect(store.set(['a'], '2')).rejects.toMatchObject(closed)
  await expect(store.take(['a'], { burst: 1, perSecond: 1 })).rejects.toMatchObject(closed)
  expect(await open(path).list([], { limit: 9 })).toHaveLength(2)
})
