/**
 * Brings committed transactions of a SQLite file to the disk, beside the event loop. SQLite itself would wait for the disk
 * inside COMMIT, and a disk that takes 20 ms would stop all calls of this process for so long.
 *
 * In WAL mode a transaction is whole once its part of the log is on the disk. So after COMMIT the log's file is synced by
 * a thread of Node. One sync serves all transactions that were committed before it began.
 */

import { closeSync, fdatasync, openSync } from 'node:fs'
import { storeUnavailable } from '../core/error.ts'

/** The system call that brings an open file's data to the disk. */
export type DataSync = typeof fdatasync

/** Syncs one file. */
export interface DiskSync {
  /** Throws after a sync failed. */
  assertIntact(): void
  /** Resolves when everything that was written before is on the disk. */
  sync(): Promise<void>
  /** Closes the file. Called after the last sync. */
  close(): void
}

export function createDiskSync(path: string, datasync: DataSync = fdatasync): DiskSync {
  const fd = openSync(path, 'r+')
  let failure: unknown
  let running = Promise.resolve()
  /** The sync that has not begun, which may still serve more transactions. */
  let next: Promise<void> | undefined

  const assertIntact = (): void => {
    // The kernel drops what it could not write, and reports it once. Later transactions would follow a gap in the log.
    if (failure !== undefined) throw failure
  }
  async function syncNow(): Promise<void> {
    assertIntact()
    try {
      await withCallback(datasync, fd)
    } catch (thrown) {
      failure = storeUnavailable('stopped, because its disk failed: check the disk, then restart', thrown)
      throw failure
    }
  }
  return {
    assertIntact,
    sync() {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          running = syncNow()
          return running
        })
      return next
    },
    close: () => closeSync(fd),
  }
}

const withCallback = (datasync: DataSync, fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    datasync(fd, (error) => (error ? reject(error) : resolve()))
  })
