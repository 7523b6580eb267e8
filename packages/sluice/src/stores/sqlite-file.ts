/** Opens SQLite files: their access rights, their migrations, and the meaning of their errors. */

import { DatabaseSync } from 'node:sqlite'
import { storeUnavailable } from '../core/error.ts'
import { makePrivateFile } from './private-files.ts'

/**
 * How long opening waits for another process. SQLite waits synchronously, so it does not wait after opening
 * (`sqlite-retry.ts`).
 */
const openMs = 1000

/** The format of a database file. */
export interface DatabaseFormat {
  /** Four letters in the file's header, so that the database of another program is not mistaken for an empty one. */
  readonly applicationId: number
  /** Step n migrates a file from `user_version` n to n + 1. A released step never changes; a new one is added. */
  readonly migrations: readonly string[]
  /** The path of an extension that is loaded first, such as sqlite-vec's. */
  readonly extension?: string
}

/**
 * Opens a database file: migrated, in WAL mode, readable only by this account, with every commit on the disk. A
 * statement that finds another process's lock throws at once. `createWriter` and `createRetry` try again later.
 */
export function openDatabase(path: string, { applicationId, migrations, extension }: DatabaseFormat): DatabaseSync {
  if (path === '' || path.startsWith(':') || path.startsWith('file:'))
    throw new Error(`The store needs the path of a file, not "${path}": use memoryStore() for a store without a file`)
  let database: DatabaseSync | undefined
  try {
    // SQLite creates files that others may read, with -wal and -shm alike. They hold tickets and key hashes.
    makePrivateFile(path)
    const opened = new DatabaseSync(path, { timeout: openMs, allowExtension: extension !== undefined })
    database = opened
    if (extension !== undefined) {
      opened.loadExtension(extension)
      opened.enableLoadExtension(false)
    }
    // While another process switches a new file to WAL, SQLite refuses readers without waiting.
    retryWhileBusySync(() => assertOwnDatabase(opened, applicationId))
    retryWhileBusySync(() => opened.exec('PRAGMA journal_mode = WAL'))
    opened.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF')
    migrate(opened, migrations)
    opened.exec('PRAGMA busy_timeout = 0')
    return opened
  } catch (thrown) {
    if (database?.isOpen) database.close()
    const fault = faultOf(thrown)
    const problem = fault
      ? `it is ${fault.state}: ${fault.advice}`
      : thrown instanceof Error
        ? thrown.message
        : 'unknown'
    throw new Error(`Cannot open the store ${path}: ${problem}`, { cause: thrown })
  }
}

/**
 * Migrates a file, with one transaction per step. A kill −9 leaves the version before or after a step, nothing between.
 * Of two processes the second finds the work done.
 */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
  for (;;) {
    const known = versionOf(database)
    if (known > steps.length)
      throw new Error(
        `it was written by a newer Sluice (schema ${known}, this version knows ${steps.length}): run that version or newer. Or restore the backup made before the upgrade`,
      )
    if (known === steps.length) return
    database.exec('BEGIN IMMEDIATE')
    try {
      // Read again, because another process may have done this step before this one got the lock.
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
    throw new Error('it is the database of another program: give the store a separate file')
}

/**
 * Retries while several processes switch a new file to WAL. SQLite answers "busy" at once to all but one, without
 * waiting.
 */
function retryWhileBusySync(work: () => void): void {
  const nap = new Int32Array(new SharedArrayBuffer(4))
  for (let remaining = openMs / 10; ; remaining--) {
    try {
      work()
      return
    } catch (thrown) {
      if (remaining <= 0 || !isBusy(thrown)) throw thrown
      Atomics.wait(nap, 0, 0, 10)
    }
  }
}

interface Fault {
  readonly state: string
  readonly advice: string
}
/** SQLite's result codes for problems of the file, not for our bugs. https://sqlite.org/rescode.html */
const faults = new Map<number, Fault>([
  [5, { state: 'locked by another process', advice: 'end that process' }],
  [6, { state: 'locked', advice: 'end the process that holds the lock' }],
  [8, { state: 'read-only', advice: 'let this user write to the file and its folder' }],
  [10, { state: 'not readable or not writable (I/O error)', advice: 'check the disk and the system log' }],
  [11, { state: 'damaged', advice: 'restore a backup, or recover data with `sqlite3 FILE .recover`' }],
  [13, { state: 'on a full disk', advice: 'free some space' }],
  [14, { state: 'not accessible', advice: 'check the path and its permissions' }],
  [26, { state: 'damaged, or not a SQLite file', advice: 'restore a backup or choose another path' }],
])

const codeOf = (thrown: unknown): number =>
  thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : 0
/** Whether another connection holds a lock that this statement needs. */
export const isBusy = (thrown: unknown): boolean => codeOf(thrown) === 5
const faultOf = (thrown: unknown): Fault | undefined => faults.get(codeOf(thrown))

/**
 * Converts an error of SQLite for callers of the store. It leaves the path out, because the text may reach a client.
 */
export function toUnavailable(thrown: unknown): unknown {
  const closed = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_INVALID_STATE'
  const state = closed ? 'closed' : faultOf(thrown)?.state
  return state === undefined ? thrown : storeUnavailable(state, thrown)
}
