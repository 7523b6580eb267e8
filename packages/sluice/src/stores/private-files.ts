/**
 * Folders and files that only this account may read. Each file is written completely or not at all, so that a process
 * that is killed during a write does not break the next start. For Node only.
 */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
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

/** Whether other accounts have access to a path. Windows has no such permission bits. */
export const isReadableByOthers = (path: string): boolean =>
  process.platform !== 'win32' && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0

/** Removes the permissions of other accounts. Returns `false` if this account may not do that. */
export function restrictToOwner(path: string): boolean {
  try {
    if (isReadableByOthers(path)) chmodSync(path, statSync(path).mode & 0o700)
    return true
  } catch {
    return false
  }
}

/**
 * Creates a folder and its parents. Not by Node's recursion, which never ends if a folder cannot be created, as in
 * `/proc`.
 */
export function makePrivateFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw new Error(`${path} is not a folder: remove it, or choose another path`)
  if (dirname(path) !== path) makePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (thrown) {
    // Two processes that start together both create it.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw thrown
  }
}

/**
 * Creates an empty file, or removes the permissions of others from an existing one and from SQLite's `-wal` and `-shm`.
 */
export function makePrivateFile(path: string): void {
  // An existing file is not opened. Closing it again would release all locks that SQLite has on it in this process.
  if (assertRegularFile(path)) accessSync(path, constants.W_OK)
  else closeSync(openSync(path, 'a', 0o600))
  for (const each of [path, `${path}-wal`, `${path}-shm`]) restrictToOwner(each)
}

/** Returns the text of a file. `undefined` if it is missing or empty, as after a kill during a write. */
export function readPrivateFile(path: string): string | undefined {
  return assertRegularFile(path) ? readFileSync(path, 'utf8') || undefined : undefined
}

/** Replaces a file. A reader finds the old or the new text, nothing between. */
export function replacePrivateFile(path: string, text: string): void {
  assertRegularFile(path)
  writeAtomically(path, text, (written) => renameSync(written, path))
}

/**
 * Returns the text of a file that is created once, such as a key. Two processes that create it together get the same
 * text.
 */
export function createPrivateFile(path: string, text: () => string): string {
  const found = readPrivateFile(path)
  if (found !== undefined) return found
  writeAtomically(path, text(), (written) => {
    try {
      linkSync(written, path)
    } catch (thrown) {
      // The file is empty, or the file system has no links. Then the last writer wins.
      if (readPrivateFile(path) === undefined || codeOf(thrown) !== 'EEXIST') renameSync(written, path)
    }
  })
  return readPrivateFile(path) ?? ''
}

/** Writes the text to a temporary file, calls `moveInPlace`, and removes the temporary file. */
function writeAtomically(path: string, text: string, moveInPlace: (written: string) => void): void {
  const temporary = `${path}.${crypto.randomUUID()}`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    moveInPlace(temporary)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/**
 * Throws if the path is not a regular file. Opening a FIFO would block this thread until a program opens its other end.
 */
function assertRegularFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file: remove it, or choose another folder`)
  return found !== undefined
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined)
