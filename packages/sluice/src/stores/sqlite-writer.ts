/**
 * Writes that come together are committed together: one transaction and one fsync for all of a turn of the event loop. While
 * another process holds the file's write lock they wait in a queue, and the event loop goes on.
 */

import type { DatabaseSync } from 'node:sqlite'
import { toUnavailable } from './sqlite-file.ts'
import { createRetry } from './sqlite-retry.ts'

/** Writes that are committed together, so that one write to the disk serves many. */
export interface Writer {
  /** Settles when the work is on the disk. Work that throws takes the whole transaction with it, so it throws for the disk's sake only. */
  write<T>(work: () => T): Promise<T>
  /** Commits what is waiting. Resolves when each of it is on the disk or was refused. */
  flush(): Promise<void>
}

interface PendingWrite {
  readonly work: () => void
  readonly done: () => void
  readonly failed: (thrown: unknown) => void
}

/** `before` is done in every transaction, after the work, before the commit. */
export function createWriter(database: DatabaseSync, before: () => void = () => {}): Writer {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const rollback = database.prepare('ROLLBACK')
  const retry = createRetry()
  let queue: PendingWrite[] = []
  let flushing: Promise<void> | undefined

  const take = (): readonly PendingWrite[] => {
    const batch = queue
    queue = []
    return batch
  }
  const fail = (batch: readonly PendingWrite[], thrown: unknown): void => {
    const why = toUnavailable(thrown)
    for (const { failed } of batch) failed(why)
  }
  /** Whole within one turn: a lock held over several would stop the other processes. Only BEGIN can meet a lock. */
  function transact(): void {
    begin.run()
    const batch = take()
    try {
      for (const { work } of batch) work()
      before()
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
      // A full disk or an I/O error has rolled it back already.
    }
  }
  async function commitAll(): Promise<void> {
    if (queue.length === 0) return
    try {
      await retry(transact)
    } catch (thrown) {
      fail(take(), thrown)
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
      return new Promise((resolve, reject) => {
        let result: T
        const entry: PendingWrite = {
          work() {
            result = work()
          },
          done: () => resolve(result),
          failed: reject,
        }
        // While a flush waits for the lock, it takes along what is added.
        if (queue.push(entry) === 1)
          setImmediate(() => {
            flush().catch(reject)
          })
      })
    },
  }
}
