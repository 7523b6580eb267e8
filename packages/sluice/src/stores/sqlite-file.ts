/** A SQLite file as we want one: who may open it, how it is brought up to date, and what its errors mean. */

import { DatabaseSync } from 'node:sqlite'
import { RpcError } from '../core/error.ts'
import { makePrivateFile } from './private-files.ts'

/** "Slui" in the file's header, so that the database of another program is not taken for an empty store. */
const applicationId = 0x536c7569

/**
 * Step n takes a file from `user_version` n to n + 1. A released step never changes; a new one is added.
 *
 * `key` is text in the order of `encodeKey`, in the b-tree itself (WITHOUT ROWID): `list` is one range scan.
 */
const migrations: readonly string[] = [
  `PRAGMA application_id = ${applicationId};
   CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
   CREATE INDEX entries_until ON entries (until) WHERE until IS NOT NULL;
   CREATE TABLE buckets (key TEXT PRIMARY KEY, left REAL NOT NULL, at INTEGER NOT NULL, full_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX buckets_full_at ON buckets (full_at);
   CREATE TABLE appended (n INTEGER NOT NULL);
   INSERT INTO appended VALUES (0);`,
]

/** How long opening waits for another process. SQLite waits synchronously, so afterwards it does not wait (`sqlite-retry.ts`). */
const openMs = 1000

export interface SqliteFile {
  /** Every commit is on the disk before it is acknowledged. */
  readonly durable: DatabaseSync
  /** Commits reach the disk some time later; a power cut may undo the last ones, a kill −9 does not. */
  readonly quick: DatabaseSync
  close(): void
}

/** What a program of ours keeps in its file. */
export interface DatabaseFormat {
  /** Four letters in the file's header, so that the database of another program is not taken for an empty one. */
  readonly applicationId: number
  /** Step n takes a file from `user_version` n to n + 1. A released step never changes; a new one is added. */
  readonly migrations: readonly string[]
  /** The path of an extension that is loaded first, such as sqlite-vec's. */
  readonly extension?: string
}

const storeFormat: DatabaseFormat = { applicationId, migrations }

export function openStoreFile(path: string): SqliteFile {
  const durable = openDatabase(path, storeFormat)
  try {
    const quick = openDatabase(path, storeFormat)
    quick.exec('PRAGMA synchronous = NORMAL')
    const close = (): void => {
      for (const database of [durable, quick]) if (database.isOpen) database.close()
    }
    return { durable, quick, close }
  } catch (thrown) {
    durable.close()
    throw thrown
  }
}

/**
 * A file of our own, up to date, in WAL mode, readable by this account alone; every commit is on the disk. A statement that
 * meets another process's lock throws at once: `createWriter` and `retryWhileBusy` try again later.
 */
export function openDatabase(path: string, { applicationId, migrations, extension }: DatabaseFormat): DatabaseSync {
  if (path === '' || path.startsWith(':') || path.startsWith('file:'))
    throw new Error(`The store needs the path of a file, not "${path}"; memoryStore() is the one without`)
  let database: DatabaseSync | undefined
  try {
    // SQLite makes files others may read, and gives -wal and -shm the same rights: tickets and key hashes are in there.
    makePrivateFile(path)
    const opened = new DatabaseSync(path, { timeout: openMs, allowExtension: extension !== undefined })
    database = opened
    if (extension !== undefined) {
      opened.loadExtension(extension)
      opened.enableLoadExtension(false)
    }
    assertOwnDatabase(opened, applicationId)
    retryWhileBusySync(() => opened.exec('PRAGMA journal_mode = WAL'))
    opened.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
    migrate(opened, migrations)
    opened.exec('PRAGMA busy_timeout = 0')
    return opened
  } catch (thrown) {
    if (database?.isOpen) database.close()
    const fault = faultOf(thrown)
    const why = fault ? `it is ${fault.state}; ${fault.advice}` : thrown instanceof Error ? thrown.message : 'unknown'
    throw new Error(`Cannot open the store ${path}: ${why}`, { cause: thrown })
  }
}

/**
 * Brings a file up to date, one transaction a step: a kill −9 leaves the version before or after a step, nothing between,
 * and of two processes the second finds the work done.
 */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
  for (;;) {
    const known = versionOf(database)
    if (known > steps.length)
      throw new Error(
        `it was written by a newer Sluice (schema ${known}, this one knows ${steps.length}); run that version or newer, or restore the backup made before the upgrade`,
      )
    if (known === steps.length) return
    database.exec('BEGIN IMMEDIATE')
    try {
      // Looked at again: another process may have done this step between the look above and the lock.
      const version = versionOf(database)
      const step = steps[version]
      if (step !== undefined) database.exec(`${step}; PRAGMA user_version = ${version + 1}`)
      database.exec('COMMIT')
    } catch (thrown) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw thrown
    }
  }
}

const numberIn = (database: DatabaseSync, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0])
const versionOf = (database: DatabaseSync): number => numberIn(database, 'PRAGMA user_version')

function assertOwnDatabase(database: DatabaseSync, applicationId: number): void {
  const empty = numberIn(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (!empty && numberIn(database, 'PRAGMA application_id') !== applicationId)
    throw new Error('it is the database of another program; give the store a file of its own')
}

/** Several processes turning one new file to WAL: SQLite answers "busy" at once to all but one, without waiting. */
function retryWhileBusySync(work: () => void): void {
  const nap = new Int32Array(new SharedArrayBuffer(4))
  for (let left = openMs / 10; ; left--) {
    try {
      work()
      return
    } catch (thrown) {
      if (left <= 0 || !isBusy(thrown)) throw thrown
      Atomics.wait(nap, 0, 0, 10)
    }
  }
}

interface Fault {
  readonly state: string
  readonly advice: string
}
/** SQLite's result codes that speak of the file and not of a bug of ours. https://sqlite.org/rescode.html */
const faults = new Map<number, Fault>([
  [5, { state: 'locked by another process', advice: 'end the one that holds it' }],
  [6, { state: 'locked', advice: 'end what holds it' }],
  [8, { state: 'read-only', advice: 'give this user the right to write to the file and its folder' }],
  [10, { state: 'not readable or not writable (I/O error)', advice: 'look at the disk and the system log' }],
  [11, { state: 'damaged', advice: 'restore a backup, or save what is left with `sqlite3 FILE .recover`' }],
  [13, { state: 'on a full disk', advice: 'make room' }],
  [14, { state: 'not to be opened', advice: 'look at the path and its rights' }],
  [26, { state: 'damaged, or no SQLite file', advice: 'restore a backup or give another path' }],
])

const codeOf = (thrown: unknown): number =>
  thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : 0
/** Another connection holds a lock that this statement needs. */
export const isBusy = (thrown: unknown): boolean => codeOf(thrown) === 5
const faultOf = (thrown: unknown): Fault | undefined => faults.get(codeOf(thrown))

/** What a verb throws. The path stays inside: this text may reach a client. */
export function toUnavailable(thrown: unknown): unknown {
  const closed = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_INVALID_STATE'
  const is = closed ? 'closed' : faultOf(thrown)?.state
  return is === undefined ? thrown : new RpcError('storeUnavailable', `The store is ${is}`, { cause: thrown })
}
