/**
 * Bytes in, lines out. Pieces of an unfinished line are kept in a list and joined once: joining on every piece makes a
 * 10 MB line that arrives in small pieces cost seconds.
 */

export interface LineSplitter {
  push(chunk: Buffer): void
  /** What is left without a newline is a line too. */
  end(): void
}

export interface LineEvents {
  /** Without its line break. */
  line(bytes: Buffer): void
  /** Once per line that is too long; its bytes are skipped up to the next newline. */
  tooLong(): void
}

const newline = 10
const carriageReturn = 13

export function createLineSplitter(maxBytes: number, { line, tooLong }: LineEvents): LineSplitter {
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
      line(bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes)
    }
    pieces = []
    size = 0
    skipping = false
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
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
