/**
 * Commits concurrent writes together: one transaction for all writes of a turn of the event loop, and one sync of the disk
 * for all transactions that wait. While another process holds the file's write lock they wait in a queue, and the event
 * loop continues.
 *
 * A write is acknowledged when it is on the disk. Readers see it from its commit on, a little earlier. A write that
 * depends on such a read is safe, because a sync covers all transactions before it.
 */

import type { DatabaseSync } from 'node:sqlite'
import { storeUnavailable } from '../core/error.ts'
import { toUnavailable } from './sqlite-file.ts'
import { createRetry } from './sqlite-retry.ts'
import { createDiskSync, type DataSync } from './sqlite-sync.ts'

/** Commits writes together, so that one write to the disk serves many. */
export interface Writer {
  /**
   * Settles when the work is on the disk. Work that throws rolls back the whole transaction, so only disk errors may
   * throw.
   */
  write<T>(work: () => T): Promise<T>
  /** Throws after the disk failed. For writes beside the writer, which need not be on the disk. */
  assertIntact(): void
  /** Commits the waiting writes, and closes the database when each is on the disk or was refused. */
  close(): Promise<void>
}

/** Options of a writer. */
export interface WriterOptions {
  /** Runs in every transaction, after the work. */
  readonly beforeCommit?: () => void
  /** By default that of the operating system. */
  readonly datasync?: DataSync
}

interface PendingWrite {
  readonly work: () => void
  readonly done: () => void
  readonly failed: (thrown: unknown) => void
}

/** Creates the writer of a database in WAL mode. Other statements on the same connection are not synced. */
export function createWriter(database: DatabaseSync, { beforeCommit, datasync }: WriterOptions = {}): Writer {
  database.exec('PRAGMA synchronous = NORMAL')
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map((text) => database.prepare(text))
  const disk = createDiskSync(`${pathOf(database)}-wal`, datasync)
  const retry = createRetry()
  let queue: PendingWrite[] = []
  let flushing: Promise<void> | undefined
  /** Settled when the last transaction is on the disk or was refused. */
  let synced = Promise.resolve()
  let closing: Promise<void> | undefined

  const takeQueue = (): readonly PendingWrite[] => {
    const batch = queue
    queue = []
    return batch
  }
  const fail = (batch: readonly PendingWrite[], thrown: unknown): void => {
    const error = toUnavailable(thrown)
    for (const { failed } of batch) failed(error)
  }
  /**
   * Runs the whole transaction within one turn, because a lock held longer would stop other processes. Only BEGIN can
   * find a lock.
   */
  function transact(): void {
    disk.assertIntact()
    begin?.run()
    const batch = takeQueue()
    try {
      for (const { work } of batch) work()
      beforeCommit?.()
      commit?.run()
    } catch (thrown) {
      undo()
      fail(batch, thrown)
      return
    }
    synced = disk.sync().then(
      () => {
        for (const { done } of batch) done()
      },
      (thrown: unknown) => fail(batch, thrown),
    )
  }
  function undo(): void {
    try {
      if (database.isOpen && database.isTransaction) rollback?.run()
    } catch {
      // A full disk or an I/O error has already rolled it back.
    }
  }
  async function commitAll(): Promise<void> {
    if (queue.length === 0) return
    try {
      await retry(transact)
    } catch (thrown) {
      fail(takeQueue(), thrown)
    }
  }
  function flush(): Promise<void> {
    flushing ??= commitAll().finally(() => {
      flushing = undefined
    })
    return flushing
  }
  async function finish(): Promise<void> {
    // A flush that has taken its writes is not the last one, if others were added behind them.
    await flushing
    await flush()
    await synced
    disk.close()
    database.close()
  }
  return {
    assertIntact: disk.assertIntact,
    close() {
      closing ??= finish()
      return closing
    },
    async write<T>(work: () => T): Promise<T> {
      if (closing) throw storeUnavailable('closed')
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      let result: T
      const run = (): void => {
        result = work()
      }
      // While a flush waits for the lock, it includes writes that are added.
      if (queue.push({ work: run, done: () => resolve(result), failed: reject }) === 1)
        setImmediate(() => {
          flush().catch(reject)
        })
      return promise
    },
  }
}

const pathOf = (database: DatabaseSync): string =>
  String(database.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").get()?.['file'])
