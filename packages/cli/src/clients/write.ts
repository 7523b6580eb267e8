/** Replaces files of other programs: completely or not at all, with the permissions they had, and through links. */

import type { Stats } from 'node:fs'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from '../output.ts'

/**
 * Writes a temporary file beside the file and renames it. A new file is readable by this account only. `before` is the
 * text that is replaced: if the file has another one by now, its client wrote it, and nothing is done.
 */
export function replaceFile(path: string, text: string, before?: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  // A link, as dotfile managers make them, stays a link.
  const target = found ? realpathSync(path) : path
  mkdirSync(dirname(target), { recursive: true })
  const temporary = `${target}.${crypto.randomUUID()}`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      // Unlike `writeSync`, it throws if the disk takes only a part.
      writeFileSync(file, text)
      if (found) {
        keepOwner(file, found)
        fchmodSync(file, found.mode & 0o777)
      }
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (before !== undefined && readFileSync(target, 'utf8') !== before)
      throw new CommandError(`${path} was changed meanwhile and was not written. Run the command again.`)
    renameSync(temporary, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Keeps the owner: a file that root replaced would be closed to its client. Other accounts may not give files away. */
function keepOwner(file: number, { uid, gid }: Stats): void {
  try {
    fchownSync(file, uid, gid)
  } catch {
    // The account that replaced it owns it then.
  }
}
