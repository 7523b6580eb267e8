import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Chunk } from './chunk.ts'
import { chunk } from './chunk.ts'

const small = { size: 20, overlap: 4 }
const piecesOf = (text: string, options = small): readonly string[] =>
  chunk(text, options).map(({ start, end }) => text.slice(start, end))
const countOf = (piece: string): number => chunk(piece, { size: 1, overlap: 0 }).length

/** Generates words, lines, paragraphs, ideographs, emoji and anything else a string may contain. */
const prose = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'longerword',
        'end.',
        '\n',
        '\n\n',
        ' ',
        '  ',
        '数据库',
        '👩‍👩‍👧',
        '“quoted”',
        'x_y',
        '3.14',
        '\u00a0',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
    { maxLength: 200 },
  )
  .map((parts) => parts.join(' '))

test('a short text is one chunk, without the surrounding white space', () => {
  expect(piecesOf('  Anna prefers tea.\n')).toEqual(['Anna prefers tea.'])
  expect(chunk('  Anna ')).toEqual([{ start: 2, end: 6 }])
  expect(chunk(' \n ')).toEqual([])
})

test('chunks are cut at a paragraph if possible, else at a line, a sentence or between words', () => {
  const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ')
  const first = (text: string): string => piecesOf(text)[0] ?? ''
  expect(first(`${words(12)}.\n\n${words(3)}\n${words(20)}`)).toBe(`${words(12)}.`)
  expect(first(`${words(12)}\n${words(3)}. ${words(20)}`)).toBe(words(12))
  expect(first(`${words(14)}. ${words(20)}`)).toBe(`${words(14)}.`)
  expect(first(words(40))).toBe(words(20))
  expect(first('a'.repeat(500))).toHaveLength(20 * 6)
})

test('every chunk is a range of the text within the size, and only white space lies outside all chunks', () => {
  fc.assert(
    fc.property(prose, (text) => {
      const chunks = chunk(text, small)
      let covered = 0
      for (const { start, end } of chunks) {
        expect(start).toBeLessThanOrEqual(
          covered === 0 ? text.length : covered + (text.slice(covered).match(/^\s*/)?.[0].length ?? 0),
        )
        expect(text.slice(covered, Math.max(covered, start)).trim()).toBe('')
        expect(end).toBeGreaterThan(covered)
        expect(countOf(text.slice(start, end))).toBeLessThanOrEqual(small.size)
        expect(text.slice(start, end).isWellFormed()).toBe(text.isWellFormed())
        covered = end
      }
      expect(text.slice(covered).trim()).toBe('')
    }),
  )
})

test('neighbouring chunks overlap by the requested number of tokens', () => {
  const text = Array.from({ length: 100 }, (_, n) => `w${n}`).join(' ')
  const pieces = piecesOf(text)
  for (const [at, piece] of pieces.entries())
    if (at > 0) expect(piece.split(' ').slice(0, 4)).toEqual(pieces[at - 1]?.split(' ').slice(-4))
})

test('appending text changes only the last chunks', () => {
  fc.assert(
    fc.property(prose, prose, (text, more) => {
      const before = chunk(text, small)
      const after = chunk(`${text} ${more}`, small)
      const settled = before.filter(({ end }: Chunk) => countOf(text.slice(end)) > small.size)
      expect(after.slice(0, settled.length)).toEqual(settled)
    }),
  )
})

test('ten million characters become chunks of at most 512 tokens', () => {
  const text = 'A sentence that is repeated very often. '.repeat(250_000)
  const chunks = chunk(text)
  expect(chunks.length).toBeGreaterThan(4_000)
  expect(chunks.at(-1)?.end).toBe(text.trimEnd().length)
})
