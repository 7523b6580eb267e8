/**
 * The backups of clients' files. A record says which file was changed, where its text before is, and what was written.
 * The record is written before the client's file, so that an interrupted `protect` can be repeated or taken back.
 */

import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makePrivateFolder, readPrivateFile, replacePrivateFile } from 'sluice/node'
import { isTree } from '../config/tree.ts'
import { CommandError } from '../output.ts'

export interface BackupRecord {
  readonly client: string
  /** The client's file. */
  readonly file: string
  /** The file with the text before. */
  readonly backup: string
  /** The hash of the text that `protect` wrote. */
  readonly written: string
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const folderIn = (data: string): string => join(data, 'backups')
const recordPath = (data: string, client: string, file: string): string =>
  join(folderIn(data), `${client}-${hashOf(file).slice(0, 12)}.json`)

/** Returns the record of a client's file; `undefined` if it is not protected. */
export function readRecord(data: string, client: string, file: string): BackupRecord | undefined {
  return recordIn(recordPath(data, client, file))
}

function recordIn(path: string): BackupRecord | undefined {
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
  const value: unknown = JSON.parse(text)
  if (isBackupRecord(value)) return value
  throw new CommandError(`${path} is not a record of a backup. Restore it, or remove it.`)
}

const isBackupRecord = (value: unknown): value is BackupRecord =>
  isTree(value) && ['client', 'file', 'backup', 'written'].every((name) => typeof value[name] === 'string')

/** Returns the records of all files of a client. */
export function recordsOf(data: string, client: string): readonly BackupRecord[] {
  let names: readonly string[]
  try {
    names = readdirSync(folderIn(data))
  } catch {
    // No client was protected with this data folder.
    return []
  }
  return names
    .filter((name) => name.startsWith(`${client}-`) && name.endsWith('.json'))
    .map((name) => recordIn(join(folderIn(data), name)))
    .filter((record) => record !== undefined)
}

/** Returns the text before. Rejects a backup that was removed, because an empty file would look restored. */
export function backupOf({ backup }: BackupRecord): string {
  const text = readPrivateFile(backup)
  if (text === undefined) throw new CommandError(`The backup ${backup} is missing or empty. Put the file back by hand.`)
  return text
}

/** Keeps a text and records it. The name contains the hash of the text, so that no backup replaces another. */
export function keepBackup(data: string, client: string, file: string, before: string, after: string): BackupRecord {
  makePrivateFolder(folderIn(data))
  const backup = join(folderIn(data), `${basename(file)}.${hashOf(before).slice(0, 12)}`)
  replacePrivateFile(backup, before)
  const record = { client, file, backup, written: hashOf(after) }
  const earlier = readRecord(data, client, file)
  replacePrivateFile(recordPath(data, client, file), `${JSON.stringify(record, undefined, 2)}\n`)
  if (earlier && earlier.backup !== backup) rmSync(earlier.backup, { force: true })
  return record
}

/** Removes a record, and its backup unless `keep` is set. */
export function removeRecord(data: string, record: BackupRecord, keep: boolean): void {
  rmSync(recordPath(data, record.client, record.file), { force: true })
  if (!keep) rmSync(record.backup, { force: true })
}
