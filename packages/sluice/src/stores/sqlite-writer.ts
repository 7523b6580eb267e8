/**
 * Commits concurrent writes together: one transaction and one fsync for all writes of a turn of the event loop. While
 * another process holds the file's write lock they wait in a queue, and the event loop continues.
 */

import type { DatabaseSync } from 'node:sqlite'
import { toUnavailable } from './sqlite-file.ts'
import { createRetry } from './sqlite-retry.ts'

/** Commits writes together, so that one write to the disk serves many. */
export interface Writer {
  /**
   * Settles when the work is on the disk. Work that throws rolls back the whole transaction, so only disk errors may
   * throw.
   */
  write<T>(work: () => T): Promise<T>
  /** Commits the waiting writes. Resolves when each is on the disk or was refused. */
  flush(): Promise<void>
}

interface PendingWrite {
  readonly work: () => void
  readonly done: () => void
  readonly failed: (thrown: unknown) => void
}

/** Creates a writer. `beforeCommit` runs in every transaction, after the work. */
export function createWriter(database: DatabaseSync, beforeCommit: () => void = () => {}): Writer {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const rollback = database.prepare('ROLLBACK')
  const retry = createRetry()
  let queue: PendingWrite[] = []
  let flushing: Promise<void> | undefined

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
    begin.run()
    const batch = takeQueue()
    try {
      for (const { work } of batch) work()
      beforeCommit()
      commit.run()
    } catch (thrown) {
      undo()
      fail(batch, thrown)
      return
    }
    for (const { done } of batch) done()
  }
  function undo(): void {
    try {
      if (database.isOpen && database.isTransaction) rollback.run()
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
  return {
    flush,
    write<T>(work: () => T): Promise<T> {
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
