/**
 * Folders and files that this account alone may read. Each file is there whole or not at all, so that a process that is
 * killed while it writes cannot spoil the next start. Node alone.
 */

import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Whether other accounts have a right to it. Windows has no such bits. */
export const isReadableByOthers = (path: string): boolean =>
  process.platform !== 'win32' && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0

/** Takes the rights of other accounts away. Returns `false` if this account may not do that. */
export function restrictToOwner(path: string): boolean {
  try {
    if (isReadableByOthers(path)) chmodSync(path, statSync(path).mode & 0o700)
    return true
  } catch {
    return false
  }
}

/** Makes a folder and those above it. Not Node's own recursion, which never ends where no folder can be made, as in `/proc`. */
export function makePrivateFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw new Error(`${path} is not a folder`)
  if (dirname(path) !== path) makePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (thrown) {
    // Two processes that start together both make it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw thrown
  }
}

/** Makes an empty file, or takes the rights of others away from the one that is there; also for `-wal` and `-shm` of SQLite. */
export function makePrivateFile(path: string): void {
  assertRegularFile(path)
  closeSync(openSync(path, 'a', 0o600))
  for (const each of [path, `${path}-wal`, `${path}-shm`]) restrictToOwner(each)
}

/** Returns the text of a file; `undefined` if it is missing or empty, as a process that was killed may have left it. */
export function readPrivateFile(path: string): string | undefined {
  return assertRegularFile(path) ? readFileSync(path, 'utf8') || undefined : undefined
}

/** Replaces a file. A reader finds the text before or the text after, nothing between. */
export function replacePrivateFile(path: string, text: string): void {
  assertRegularFile(path)
  writeAtomically(path, text, (written) => renameSync(written, path))
}

/** Returns the text of a file that is made once, such as a key. Of two processes that make it together both get the same. */
export function createPrivateFile(path: string, text: () => string): string {
  const found = readPrivateFile(path)
  if (found !== undefined) return found
  writeAtomically(path, text(), (written) => {
    try {
      linkSync(written, path)
    } catch (thrown) {
      // Empty, or a file system without links: then the last writer wins.
      if (readPrivateFile(path) === undefined || codeOf(thrown) !== 'EEXIST') renameSync(written, path)
    }
  })
  return readPrivateFile(path) ?? ''
}

/** Writes the text beside `path`, puts it in place and removes what is left over. */
function writeAtomically(path: string, text: string, place: (written: string) => void): void {
  const beside = `${path}.${crypto.randomUUID()}`
  try {
    const file = openSync(beside, 'wx', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    place(beside)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Opening a FIFO waits for a program at its other end, without a time limit and on the thread that serves. */
function assertRegularFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file. Remove it, or choose another folder.`)
  return found !== undefined
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined)
