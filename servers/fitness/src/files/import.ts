/**
 * Imports files, or ZIPs of files as providers export them, into a log. It reads one source at a time, so that a
 * thousand files take no more memory than one.
 */

import type { TrainingLog } from '../archive.ts'
import { UnreadableFile } from './read.ts'
import type { FileReader } from './reader.ts'

export interface Source {
  readonly name: string
  /** Reads the bytes anew each time, because they are transferred to another thread. */
  read(): Promise<Uint8Array>
}

export interface ImportResult {
  readonly added: number
  readonly known: number
  /** New nights, with sleep, resting heart rate or variability. */
  readonly nights: number
  /** The reasons for the skipped files, at most fifty. */
  readonly skipped: readonly string[]
}

const maxSkipped = 50

/** Calls `report` with the number of finished sources, including fractions within a ZIP. */
export async function importInto(
  log: TrainingLog,
  reader: FileReader,
  sources: readonly Source[],
  report: (done: number, total: number, name: string) => void,
  signal?: AbortSignal,
): Promise<ImportResult> {
  let [added, found, nights] = [0, 0, 0]
  const skipped: string[] = []
  const skip = (reasons: readonly string[]): void => {
    skipped.push(...reasons.slice(0, Math.max(0, maxSkipped - skipped.length)))
  }
  for (const [at, { name, read }] of sources.entries()) {
    signal?.throwIfAborted()
    report(at, sources.length, name)
    try {
      for await (const batch of reader.read(name, await read(), signal)) {
        added += await log.add(batch.activities)
        found += batch.activities.length
        nights += await log.addNights(batch.nights)
        skip(batch.skipped)
        if (batch.share < 1) report(at + batch.share, sources.length, batch.entry)
      }
    } catch (thrown) {
      if (!(thrown instanceof UnreadableFile)) throw thrown
      skip([thrown.message])
    }
  }
  report(sources.length, sources.length, '')
  return { added, known: found - added, nights, skipped }
}
