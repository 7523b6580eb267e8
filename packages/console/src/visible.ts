/**
 * Text an approver can trust: whatever would not be seen, or would change the order of what is, becomes something to be
 * seen. An agent can be talked into hiding words from the person who decides; here they stand out.
 */

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** Takes no room, or rearranges its neighbours. */
  | { readonly kind: 'hidden'; readonly text: string; readonly code: string }
  /** A letter of another script within a Latin word, such as a Cyrillic а. */
  | { readonly kind: 'alike'; readonly text: string; readonly code: string }

/** Controls, formats (bidirectional ones among them), what is private, unassigned or half a pair, odd spaces, fillers. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/u
const foreign = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const latin = /\p{Script=Latin}/u
const word = /[\p{L}\p{M}]+/gu

const names: ReadonlyMap<number, string> = new Map([
  [0x9, 'TAB'],
  [0xa, 'LF'],
  [0xd, 'CR'],
  [0xa0, 'NBSP'],
  [0xad, 'SHY'],
  [0x61c, 'ALM'],
  [0x200b, 'ZWSP'],
  [0x200c, 'ZWNJ'],
  [0x200d, 'ZWJ'],
  [0x200e, 'LRM'],
  [0x200f, 'RLM'],
  [0x202a, 'LRE'],
  [0x202b, 'RLE'],
  [0x202c, 'PDF'],
  [0x202d, 'LRO'],
  [0x202e, 'RLO'],
  [0x2060, 'WJ'],
  [0x2066, 'LRI'],
  [0x2067, 'RLI'],
  [0x2068, 'FSI'],
  [0x2069, 'PDI'],
  [0xfeff, 'BOM'],
])

/** `U+202E RLO`; of the invisible tag characters also which letter they stand for. */
export function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const number = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  if (point >= 0xe0020 && point <= 0xe007e) return `${number} TAG ${String.fromCodePoint(point - 0xe0000)}`
  const name = names.get(point)
  return name === undefined ? number : `${number} ${name}`
}

/** Whether anything in it needs showing: the usual text costs one look. */
const isPlain = (text: string): boolean => !hidden.test(text) && !foreign.test(text)

export function piecesOf(text: string): readonly Piece[] {
  if (isPlain(text)) return [{ kind: 'text', text }]
  const alike = alikeIn(text)
  const pieces: Piece[] = []
  let plain = ''
  let at = 0
  for (const character of text) {
    const kind = hidden.test(character) ? 'hidden' : alike.has(at) ? 'alike' : undefined
    at += character.length
    if (kind === undefined) {
      plain += character
      continue
    }
    if (plain !== '') pieces.push({ kind: 'text', text: plain })
    plain = ''
    pieces.push({ kind, text: character, code: codeOf(character) })
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain })
  return pieces
}

/** Where letters of another script stand in words that have Latin ones. */
function alikeIn(text: string): ReadonlySet<number> {
  const found = new Set<number>()
  if (!foreign.test(text)) return found
  for (const match of text.matchAll(word)) {
    if (!latin.test(match[0])) continue
    let at = match.index
    for (const character of match[0]) {
      if (foreign.test(character)) found.add(at)
      at += character.length
    }
  }
  return found
}
