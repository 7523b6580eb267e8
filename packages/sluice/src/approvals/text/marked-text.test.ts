import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, markedPieces, markedText } from './marked-text.ts'

const marked = (text: string): string =>
  markedPieces(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : `[${piece.code}]`))
    .join('')

describe('marks', () => {
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
    ['a lone surrogate', 'a\ud800b', 'a[U+D800]b'],
    ['private and unassigned code points', '\ue000\u{10ffff}', '[U+E000][U+10FFFF]'],
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 'p[U+0430]ypal'],
    ['a Greek letter in a Latin word', 'g\u03bfogle', 'g[U+03BF]ogle'],
    ['letters of any other script in a Latin word', 'c\u0585de \u13e2at', 'c[U+0585]de [U+13E2]at'],
    ['a word that consists of Cyrillic look-alikes alone', 'go \u0440\u0430\u0443', 'go [U+0440][U+0430][U+0443]'],
    ['Latin letters that look like others', '\u0261oogle', '[U+0261]oogle'],
    ['mathematical letters', '\u{1d429}ay', '[U+1D429]ay'],
    ['full-width letters and signs', '\uff41\uff0f\uff11', '[U+FF41][U+FF0F][U+FF11]'],
    ['a fraction slash and a division slash', 'a\u2044b\u2215c', 'a[U+2044]b[U+2215]c'],
    ['a ratio for a colon, a minus for a hyphen', 'http\u2236 \u2212f', 'http[U+2236] [U+2212]f'],
    ['stacked combining marks', 'a\u0301\u0302\u0303\u0304', 'a[U+0301][U+0302][U+0303][U+0304]'],
    ['a mark twice, and one that strikes through', 'a\u0301\u0301 b\u0338', 'a[U+0301][U+0301] b[U+0338]'],
    ['a mark without a base character', '"\u0301x', '"[U+0301]x'],
    ['digits of two systems in one number', '1\u0662\u0663', '1[U+0662][U+0663]'],
    ['right-to-left letters beside digits', 'pay \u05d0100', 'pay [U+05D0]100'],
    ['a capital I for a lowercase l', 'paypaI', 'paypa[U+0049]'],
    ['a lowercase l for a capital I', 'BlLL lDX', 'B[U+006C]LL [U+006C]DX'],
    ['letters in a number', 'pay 1O0 or l00', 'pay 1[U+004F]0 or [U+006C]00'],
  ])('%s', (_, text, shown) => {
    expect(marked(text)).toBe(shown)
  })

  test.each([
    ...['plain text, with "quotes"', 'Grüße, façade', 'Москва', 'Ελλάδα', '東京都', 'العربية', '🙂'],
    ...['userId, itemIds, URIs, appID, HTML, Illinois, all, 100, 10 l, 0x1f', 'Мама мыла раму', 'com uma ação'],
    ...[
      '東京Tower',
      '“quoted”, it’s – 10 € … done™',
      'Việt Nam a\u0302\u0301',
      'עברית ועוד',
      '١٢٣',
      'हिन्दी',
      'ışık',
      'ภาษาไทยที่',
    ],
    ...['{"sha":"a1b0c9l0I1","uuid":"6f1c2d3e-1I0l"}'.replaceAll('I', 'i')],
  ])('nothing in %s', (text) => {
    expect(marked(text)).toBe(text)
  })

  test('any text without loss, and no hidden character stays unmarked', () => {
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
        const pieces = markedPieces(text)
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
        for (const piece of pieces)
          if (piece.kind === 'text')
            expect(piece.text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u)
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  test('characters by code point, with a name if there is a common one', () => {
    expect(codeOf('\u202e')).toBe('U+202E RLO')
    expect(codeOf('é')).toBe('U+00E9')
  })

  test('text for a terminal in the same way, with the character that each looks like', () => {
    expect(markedText('p\u0430y\n\u202e1\u2044\uff12')).toBe(
      'p\u0430[U+0430, like a]y\n[U+202E RLO]1\u2044[U+2044, like /]\uff12[U+FF12, like 2]',
    )
  })

  test('long text in linear time', () => {
    for (const unit of ['a\u0301', '\u0301', '1O', 'aI', '\u05d01', '\u0430'])
      expect(
        markedPieces(unit.repeat(20_000))
          .map(({ text }) => text)
          .join(''),
      ).toHaveLength(unit.length * 20_000)
  })
})
