/** Files, or ZIPs of them as providers export them, into a log: one source at a time, so that a thousand take no more memory than one. */

import type { TrainingLog } from '../archive.ts'
import { UnreadableFile } from './read.ts'
import type { FileReader } from './reader.ts'

export interface Source {
  readonly name: string
  /** The bytes go to another thread, so each read makes them anew. */
  read(): Promise<Uint8Array>
}

export interface ImportResult {
  readonly added: number
  readonly known: number
  /** Why each of the others was left out, the first fifty. */
  readonly skipped: readonly string[]
}

const maxSkipped = 50

/** `report` gets how many sources are done; of a ZIP, which may be the only one, also parts. */
export async function importInto(
  log: TrainingLog,
  reader: FileReader,
  sources: readonly Source[],
  report: (done: number, total: number, name: string) => void,
  signal?: AbortSignal,
): Promise<ImportResult> {
  let [added, found] = [0, 0]
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
        skip(batch.skipped)
        if (batch.share < 1) report(at + batch.share, sources.length, batch.entry)
      }
    } catch (thrown) {
      if (!(thrown instanceof UnreadableFile)) throw thrown
      skip([thrown.message])
    }
  }
  report(sources.length, sources.length, '')
  return { added, known: found - added, skipped }
}
