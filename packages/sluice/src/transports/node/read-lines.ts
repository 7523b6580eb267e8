/** Lines of a stream, ended by `\n` alone. `node:readline` also ends them at U+2028 and U+2029, which JSON texts may hold. */

/** Yields each line without its end; a `\r` before it belongs to the end. The last line needs none. */
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
