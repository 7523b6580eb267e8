/** Writes that come together are committed together: one transaction and one fsync for all of a turn of the event loop. */

import type { DatabaseSync } from 'node:sqlite'
import { toUnavailable } from './sqlite-file.ts'

/** Writes that are committed together, so that one write to the disk serves many. */
export interface Writer {
  /** Settles when the work is on the disk. Work that throws takes the whole transaction with it, so it throws for the disk's sake only. */
  write<T>(work: () => T): Promise<T>
  /** Commits what is waiting now. */
  flush(): void
}

interface Write {
  readonly work: () => void
  readonly done: () => void
  readonly failed: (thrown: unknown) => void
}

/** `before` is done in every transaction, after the work, before the commit. */
export function createWriter(database: DatabaseSync, before: () => void = () => {}): Writer {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const rollback = database.prepare('ROLLBACK')
  let queue: Write[] = []

  /** Nobody is told before it is on disk. */
  function flush(): void {
    const batch = queue
    queue = []
    if (batch.length === 0) return
    try {
      begin.run()
      for (const { work } of batch) work()
      before()
      commit.run()
    } catch (thrown) {
      undo()
      const why = toUnavailable(thrown)
      for (const { failed } of batch) failed(why)
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
  return {
    flush,
    write<T>(work: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        let result: T
        const entry: Write = {
          work() {
            result = work()
          },
          done: () => resolve(result),
          failed: reject,
        }
        if (queue.push(entry) === 1) setImmediate(flush)
      })
    },
  }
}
