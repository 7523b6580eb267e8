import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesOf, chunksOf, indented } from './arguments.ts'
import { codeOf, piecesOf } from './visible.ts'

const marked = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
    .join('')

describe('what would not be seen', () => {
  test.each([
    ['a right-to-left override', 'pay \u202eeno\u202c', 'pay [U+202E RLO]eno[U+202C PDF]'],
    ['isolates', '\u2066a\u2069', '[U+2066 LRI]a[U+2069 PDI]'],
    ['characters without width', 'a\u200bb\u2060c\ufeff', 'a[U+200B ZWSP]b[U+2060 WJ]c[U+FEFF BOM]'],
    ['tag characters, with the letter they stand for', `x${String.fromCodePoint(0xe0061)}`, 'x[U+E0061 TAG a]'],
    ['a soft hyphen and odd spaces', 'a\u00adb\u00a0c\u3000', 'a[U+00AD SHY]b[U+00A0 NBSP]c[U+3000]'],
    ['controls', 'a\u0000b\u001bc\u007f', 'a[U+0000]b[U+001B]c[U+007F]'],
    ['line ends within a line', 'a\rb\u2028c', 'a[U+000D CR]b[U+2028]c'],
    ['fillers', 'a\u3164b\u115f\u2800', 'a[U+3164]b[U+115F][U+2800]'],
    ['variation selectors', 'a\ufe0f\u{e0101}', 'a[U+FE0F][U+E0101]'],
    ['half of a pair', 'a\ud800b', 'a[U+D800]b'],
    ['private and unassigned ones', '\ue000\u{10ffff}', '[U+E000][U+10FFFF]'],
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 'p[U+0430]ypal'],
    ['a Greek letter in a Latin word', 'g\u03bfogle', 'g[U+03BF]ogle'],
  ])('%s', (_, text, shown) => {
    expect(marked(text)).toBe(shown)
  })

  test.each(['plain text, with "quotes"', 'Grüße, façade', 'Москва', 'Ελλάδα', '東京都', 'العربية', '🙂'])(
    'is not found in %s',
    (text) => {
      expect(marked(text)).toBe(text)
    },
  )

  test('whatever the text, nothing is lost, and nothing hidden is left among what is shown as it is', () => {
    const odd = fc.constantFrom(
      '\u202e',
      '\u200b',
      '\ufeff',
      '\u0000',
      '\u00ad',
      '\u{e0041}',
      '\u0430',
      'a',
      ' ',
      '\ud800',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.string({ unit: 'binary' })), { maxLength: 20 }), (parts) => {
        const text = parts.join('')
        const pieces = piecesOf(text)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
        for (const piece of pieces)
          if (piece.kind === 'text')
            expect(piece.text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u)
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  test('a code has a name where people know one', () => {
    expect(codeOf('\u202e')).toBe('U+202E RLO')
    expect(codeOf('é')).toBe('U+00E9')
  })
})

describe('arguments', () => {
  test('are indented, and shown as they are where they are no JSON', () => {
    expect(indented('{"a":[1,{"b":"x\\ny"}]}')).toBe('{\n  "a": [\n    1,\n    {\n      "b": "x\\ny"\n    }\n  ]\n}')
    expect(indented('{nonsense')).toBe('{nonsense')
  })

  test('come in pieces that are whole together and cut no character', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 40 }), fc.nat(3000), (parts, times) => {
        const text = parts.join('\n').repeat(Math.ceil(times / 10))
        const chunks = chunksOf(text)
        expect(chunks.join('')).toBe(text)
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(12_000)
          expect(chunk.isWellFormed()).toBe(true)
        }
      }),
      { seed: 3, numRuns: 60 },
    )
    expect(chunksOf('🙂'.repeat(20_000)).every((chunk) => chunk.isWellFormed())).toBe(true)
  })

  test('are compared leaf by leaf', () => {
    const before = '{"amount":1,"to":{"name":"ann","tags":["a","b"]},"gone":null}'
    const now = '{"amount":100,"to":{"name":"ann","tags":["a","c","d"]},"new key":{}}'
    expect(changesOf(before, now)).toEqual({
      same: 2,
      changes: [
        { path: 'amount', before: '1', now: '100' },
        { path: 'to.tags[1]', before: '"b"', now: '"c"' },
        { path: 'to.tags[2]', now: '"d"' },
        { path: '"new key"', now: '{}' },
        { path: 'gone', before: 'null' },
      ],
    })
    expect(changesOf('{}', '{}')).toEqual({ same: 1, changes: [] })
    expect(changesOf('no json', '{}')).toBeUndefined()
  })
})
