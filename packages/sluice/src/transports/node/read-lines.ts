/**
 * Reads the lines of a stream, ended by `\n` only. `node:readline` also ends them at U+2028 and U+2029, which JSON may
 * contain.
 */

/** Yields each line without its `\n` or `\r\n`. The last line needs no end. */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  for await (const chunk of input) {
    const [first = '', ...rest] = (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })).split(
      '\n',
    )
    pieces.push(first)
    for (const next of rest) {
      yield withoutReturn(pieces.join(''))
      pieces = [next]
    }
  }
  const last = pieces.join('') + decoder.decode()
  if (last !== '') yield withoutReturn(last)
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
