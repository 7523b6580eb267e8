/** Files, or ZIPs of them as providers export them, into a log: one at a time, so that a thousand take no more memory than one. */

import { Unzip, UnzipInflate } from 'fflate'
import type { Activity } from '../activity.ts'
import type { Log } from '../archive.ts'
import { maxFileBytes, readActivity, UnreadableFile } from './read.ts'

export interface Source {
  readonly name: string
  read(): Promise<Uint8Array>
}

export interface Imported {
  readonly added: number
  readonly known: number
  /** Why each of the others was left out, the first fifty. */
  readonly skipped: readonly string[]
}

const maxEntries = 20_000
const maxUnpacked = 4 * 1024 * 1024 * 1024
const maxSkipped = 50
/** Written together: one commit for many. */
const batch = 100

/** `report` hears how many sources are done; of a ZIP, which may be all there is, also parts. */
export async function importInto(
  log: Log,
  sources: readonly Source[],
  report: (done: number, total: number, name: string) => void,
  signal?: AbortSignal,
): Promise<Imported> {
  let [added, found] = [0, 0]
  const skipped: string[] = []
  let waiting: Activity[] = []
  const write = async (): Promise<void> => {
    added += await log.add(waiting)
    waiting = []
  }
  const take = async (name: string, bytes: Uint8Array): Promise<void> => {
    try {
      waiting.push(readActivity(name, bytes))
      found++
    } catch (thrown) {
      if (!(thrown instanceof UnreadableFile)) throw thrown
      if (skipped.length < maxSkipped) skipped.push(thrown.message)
    }
    if (waiting.length >= batch) await write()
  }
  for (const [at, { name, read }] of sources.entries()) {
    signal?.throwIfAborted()
    report(at, sources.length, name)
    const bytes = await read()
    if (!isZip(bytes)) await take(name, bytes)
    else {
      let said = 0
      for await (const { entry, content, share } of entriesOf(name, bytes)) {
        signal?.throwIfAborted()
        if (share > said) report(at + share, sources.length, entry)
        said = share
        await take(entry, content)
      }
    }
  }
  await write()
  report(sources.length, sources.length, '')
  return { added, known: found - added, skipped }
}

const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04
const isActivity = (name: string): boolean => /\.(fit|gpx|tcx)(\.gz)?$/i.test(name)
const chunk = 1 << 16

interface Entry {
  readonly entry: string
  readonly content: Uint8Array
  /** How much of the archive lies before it, from 0 to less than 1. */
  readonly share: number
}

/** Names are only shown, never used as paths. What unpacks to more than is reasonable ends the archive. */
async function* entriesOf(archive: string, bytes: Uint8Array): AsyncGenerator<Entry> {
  const ready: Omit<Entry, 'share'>[] = []
  let [entries, total] = [0, 0]
  let fault: Error | undefined
  const unzip = new Unzip((file) => {
    if (++entries > maxEntries) fault ??= new UnreadableFile(`${archive}: more than ${maxEntries} files`)
    if (!isActivity(file.name) || fault) return
    const parts: Uint8Array[] = []
    let size = 0
    file.ondata = (error, data, final) => {
      size += data?.length ?? 0
      total += data?.length ?? 0
      if (error) fault ??= new UnreadableFile(`${archive}: ${file.name} is damaged`)
      if (size > maxFileBytes || total > maxUnpacked) {
        fault ??= new UnreadableFile(`${archive}: ${file.name} unpacks to too much`)
        file.terminate()
        return
      }
      parts.push(data)
      if (final) ready.push({ entry: file.name, content: Buffer.concat(parts) })
    }
    file.start()
  })
  unzip.register(UnzipInflate)
  for (let from = 0; from < bytes.length && !fault; from += chunk) {
    try {
      unzip.push(bytes.subarray(from, from + chunk), from + chunk >= bytes.length)
    } catch {
      fault ??= new UnreadableFile(`${archive}: the ZIP file is damaged`)
    }
    for (const each of ready.splice(0)) yield { ...each, share: from / bytes.length }
  }
  if (fault) yield { entry: fault.message, content: new Uint8Array(), share: 0 }
}
