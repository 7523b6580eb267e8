/**
 * Reads one file, or a ZIP of files, as a series of small batches. It runs in the worker thread, where a hostile file
 * does not block the server.
 */

import { Unzip, UnzipInflate } from 'fflate'
import type { Activity } from '../activity.ts'
import type { Night } from '../night.ts'
import { maxFileBytes, readFileContent, UnreadableFile } from './read.ts'

/** A part of the contents of a source. */
export interface Batch {
  readonly activities: readonly Activity[]
  readonly nights: readonly Night[]
  /** The reasons for the skipped files. */
  readonly skipped: readonly string[]
  /** The last file that was read. */
  readonly entry: string
  /** The share of the source before that file, from 0 to 1. */
  readonly share: number
}

const maxEntries = 20_000
const maxUnpacked = 4 * 1024 * 1024 * 1024
/** A batch ends at the first of these limits, so that it is quick to make and quick to write. */
const batchFiles = 100
const batchBytes = 1024 * 1024
const chunkBytes = 1 << 16

export function* readSource(name: string, bytes: Uint8Array): Generator<Batch> {
  let activities: Activity[] = []
  let nights: Night[] = []
  let skipped: string[] = []
  const take = (entry: string, content: Uint8Array): void => {
    try {
      const read = readFileContent(entry, content)
      activities.push(...read.activities)
      nights.push(...read.nights)
    } catch (thrown) {
      if (!(thrown instanceof UnreadableFile)) throw thrown
      skipped.push(thrown.message)
    }
  }
  const batch = (entry: string, share: number): Batch => {
    const made = { activities, nights, skipped, entry, share }
    activities = []
    nights = []
    skipped = []
    return made
  }
  if (!isZip(bytes)) {
    take(name, bytes)
    yield batch(name, 1)
    return
  }
  let [size, before] = [0, 0]
  for (const { entry, content, at } of entriesOf(name, bytes)) {
    if (content instanceof UnreadableFile) skipped.push(content.message)
    else take(entry, content)
    size += content instanceof UnreadableFile ? 0 : content.length
    if (
      activities.length + nights.length + skipped.length < batchFiles &&
      size < batchBytes &&
      at - before < batchBytes / 4
    )
      continue
    yield batch(entry, at / bytes.length)
    size = 0
    before = at
  }
  yield batch(name, 1)
}

const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04
/** Activities and sleep; an export contains much else as JSON. */
const isWanted = (name: string): boolean => /\.(fit|gpx|tcx)(\.gz)?$|sleep[^/\\]*\.json$/i.test(name)

interface Entry {
  readonly entry: string
  readonly content: Uint8Array | UnreadableFile
  /** The number of bytes of the archive before this entry. */
  readonly at: number
}

/** Names are only displayed, never used as paths. A file that unpacks to an unreasonable size ends the archive. */
function* entriesOf(archive: string, bytes: Uint8Array): Generator<Entry> {
  const ready: Omit<Entry, 'at'>[] = []
  let [entries, total] = [0, 0]
  let fault: UnreadableFile | undefined
  const unzip = new Unzip((file) => {
    if (++entries > maxEntries) fault ??= new UnreadableFile(`${archive}: more than ${maxEntries} files`)
    if (!isWanted(file.name) || fault) return
    const chunks: Uint8Array[] = []
    let size = 0
    file.ondata = (error, data, final) => {
      size += data?.length ?? 0
      total += data?.length ?? 0
      if (error) fault ??= new UnreadableFile(`${archive}: ${file.name} is damaged`)
      if (size > maxFileBytes || total > maxUnpacked) {
        fault ??= new UnreadableFile(`${archive}: ${file.name} is too large when unpacked`)
        file.terminate()
        return
      }
      chunks.push(data)
      if (final) ready.push({ entry: file.name, content: Buffer.concat(chunks) })
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  for (let from = 0; from < bytes.length && !fault; from += chunkBytes) {
    try {
      unzip.push(bytes.subarray(from, from + chunkBytes), from + chunkBytes >= bytes.length)
    } catch {
      fault ??= new UnreadableFile(`${archive}: the ZIP file is damaged`)
    }
    for (const each of ready.splice(0)) yield { ...each, at: from }
  }
  if (fault) yield { entry: archive, content: fault, at: bytes.length }
}
