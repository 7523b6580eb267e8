/** Bytes to lines, bounded: a server that never ends its line must not fill the memory. */

export interface LineReader {
  /** Takes bytes and calls `line` for each complete line. Returns `false` if a line is too long. */
  push(chunk: Buffer): boolean
}

export function createLineReader(line: (text: string) => void, maxBytes: number): LineReader {
  let held: Buffer[] = []
  let size = 0
  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, end)
        start = end + 1
        if (size + part.length > maxBytes) return false
        const text = held.length === 0 ? part.toString('utf8') : Buffer.concat([...held, part]).toString('utf8')
        held = []
        size = 0
        if (text !== '' && text !== '\r') line(text)
      }
      if (start < chunk.length) {
        held.push(start === 0 ? chunk : chunk.subarray(start))
        size += chunk.length - start
      }
      return size <= maxBytes
    },
  }
}
