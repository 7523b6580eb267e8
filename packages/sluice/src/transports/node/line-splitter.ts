/**
 * Splits bytes into lines. Whole lines of a chunk are decoded together, because that costs a tenth of decoding each.
 * Pieces of an unfinished line are kept in a list and joined once. Otherwise a 10 MB line in small pieces would take
 * seconds.
 */

import { isUtf8 } from 'node:buffer'

export interface LineSplitter {
  push(chunk: Buffer): void
  /** Ends the input. The rest without a newline is a line too. */
  end(): void
}

export interface LineEvents {
  /** Called with each line, without its line break. */
  line(text: string): void
  /** Called for a line that is not UTF-8. */
  notUtf8(): void
  /** Called once per line that is too long. Its bytes are skipped up to the next newline. */
  tooLong(): void
}

const newline = 10

export function createLineSplitter(maxBytes: number, { line, notUtf8, tooLong }: LineEvents): LineSplitter {
  let pieces: Buffer[] = []
  let size = 0
  let skipping = false

  function add(piece: Buffer): void {
    if (skipping) return
    size += piece.length
    if (size > maxBytes) {
      skipping = true
      pieces = []
      tooLong()
    } else if (piece.length > 0) pieces.push(piece)
  }
  function finish(): void {
    if (!skipping) {
      const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
      if (isUtf8(bytes)) line(withoutReturn(bytes.toString('utf8')))
      else notUtf8()
    }
    pieces = []
    size = 0
    skipping = false
  }
  /**
   * Decodes all lines together. False if that is not possible: a line has an earlier piece, is too long or not UTF-8.
   */
  function decodeWhole(chunk: Buffer): boolean {
    if (size > 0 || skipping || chunk.length > maxBytes || !isUtf8(chunk)) return false
    const text = chunk.toString('utf8')
    let from = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      line(withoutReturn(text.slice(from, at)))
      from = at + 1
    }
    return true
  }
  return {
    push(chunk) {
      const end = chunk.lastIndexOf(newline) + 1
      let from = 0
      if (end > 0 && decodeWhole(chunk.subarray(0, end))) from = end
      for (let at = chunk.indexOf(newline, from); at !== -1; at = chunk.indexOf(newline, from)) {
        add(chunk.subarray(from, at))
        finish()
        from = at + 1
      }
      if (from < chunk.length) add(chunk.subarray(from))
    },
    end() {
      if (size > 0) finish()
    },
  }
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
