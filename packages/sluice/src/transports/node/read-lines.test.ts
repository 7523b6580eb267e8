import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLines } from './read-lines.ts'

async function all(chunks: readonly (string | Uint8Array)[]): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of readLines(Readable.from(chunks, { objectMode: true }))) lines.push(line)
  return lines
}

test('a line ends only at \\n, so a text with U+2028 or U+2029 stays whole', async () => {
  const line = JSON.stringify({ text: 'one\u2028two\u2029three\u0085four\u000bfive' })
  expect(await all([`${line}\n${line}\r\n`, 'last'])).toEqual([line, line, 'last'])
  expect(await all([])).toEqual([])
  expect(await all(['\n'])).toEqual([''])
})

test('chunks may be split anywhere, even within a character', async () => {
  const byte = fc.constantFrom(...Buffer.from('a\n\r\u2028😀ü'))
  await fc.assert(
    fc.asyncProperty(fc.array(byte), fc.array(fc.nat(40)), async (bytes, cuts) => {
      const whole = Buffer.from(bytes)
      const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length]
      const chunks = at.slice(1).map((end, index) => whole.subarray(at[index], end))
      expect(await all(chunks)).toEqual(await all([whole]))
    }),
  )
})
