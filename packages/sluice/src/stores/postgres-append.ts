/**
 * Appends to one log that come together are one transaction. A log's appends commit one after the other, so that its
 * readers miss nothing; one by one, each would wait for the disk.
 */

import type { Parameter, Row } from './postgres-connection.ts'

/** Returns the last part of the new key. `life` is in milliseconds, or `null` for an entry that does not expire. */
export type Appender = (log: string, text: string, life: number | null) => Promise<string>

interface Line {
  readonly text: string
  readonly life: number | null
  resolve(part: string): void
  reject(thrown: unknown): void
}

/** A statement holds no more than this, so that none is slow. */
const maxLines = 100
const maxLength = 1024 * 1024

/** `write` runs the statement with the name of a log, its texts and their lives, and returns a row for each. */
export function createAppender(write: (values: readonly Parameter[]) => Promise<readonly Row[]>): Appender {
  /** The lines that wait for each log with a statement in flight. */
  const logs = new Map<string, Line[]>()
  async function drain(log: string, lines: Line[]): Promise<void> {
    while (lines.length > 0) {
      const batch = lines.splice(0, sizeOfBatch(lines))
      try {
        const rows = await write([log, batch.map(({ text }) => text), batch.map(({ life }) => life)])
        for (const [index, { resolve }] of batch.entries()) resolve(rows[index]?.[0] ?? '')
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown)
      }
    }
    logs.delete(log)
  }
  return (log, text, life) =>
    new Promise((resolve, reject) => {
      const line: Line = { text, life, resolve, reject }
      const waiting = logs.get(log)
      if (waiting) {
        waiting.push(line)
        return
      }
      const lines = [line]
      logs.set(log, lines)
      drain(log, lines).catch(reject)
    })
}

/** At least one. */
function sizeOfBatch(lines: readonly Line[]): number {
  let length = 0
  for (const [index, { text }] of lines.entries()) {
    length += text.length
    if (index === maxLines || (index > 0 && length > maxLength)) return index
  }
  return lines.length
}
