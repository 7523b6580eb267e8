/**
 * Text an approver can trust: a character that would not be seen, that changes the order of its neighbours, or that
 * passes for another, is marked. An agent can be talked into hiding words from the person who decides; here they stand out.
 *
 * The page of the console and the command show tickets by this one function. Look-alikes are those of UTS #39
 * (`confusables.ts`), in the places where its script mixing says that they pass for something else: Москва is a word,
 * and a Cyrillic а in "pаypal" is not.
 */

import { confusables } from './confusables.ts'

export type MarkedPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** Takes no room, or rearranges its neighbours. */
  | { readonly kind: 'hidden'; readonly text: string; readonly code: string }
  /** Passes for another character. `like` is that one, if it is known. */
  | { readonly kind: 'alike'; readonly text: string; readonly code: string; readonly like?: string }

/** Controls, formats (bidirectional ones among them), private and unassigned code points, half pairs, odd spaces, fillers. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/u
/** All that ordinary ASCII text consists of, but for the letters and digits that pass for each other. */
const printableAscii = /^[ -~]*$/

const codePointNames: ReadonlyMap<number, string> = new Map([
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
  const name = codePointNames.get(point)
  return name === undefined ? number : `${number} ${name}`
}

/** The text in pieces: joined they are the text again. */
export function markedPieces(text: string): readonly MarkedPiece[] {
  const alike = findLookAlikes(text)
  if (alike.size === 0 && !hidden.test(text)) return [{ kind: 'text', text }]
  const pieces: MarkedPiece[] = []
  let unmarked = ''
  let at = 0
  for (const character of text) {
    const like = alike.get(at)
    const isHidden = hidden.test(character)
    at += character.length
    if (!isHidden && like === undefined) {
      unmarked += character
      continue
    }
    if (unmarked !== '') pieces.push({ kind: 'text', text: unmarked })
    unmarked = ''
    const code = codeOf(character)
    if (isHidden) pieces.push({ kind: 'hidden', text: character, code })
    else pieces.push({ kind: 'alike', text: character, code, ...(like && { like }) })
  }
  if (unmarked !== '') pieces.push({ kind: 'text', text: unmarked })
  return pieces
}

/** The text with its marks written out, for a terminal: `p\u0430ypal` is `pа[U+0430, like a]ypal`. Line ends stay. */
export const markedText = (text: string): string => text.split('\n').map(markedLine).join('\n')

const markedLine = (line: string): string =>
  markedPieces(line)
    .map((piece) => {
      if (piece.kind === 'text') return piece.text
      if (piece.kind === 'hidden') return `[${piece.code}]`
      return `${piece.text}[${piece.code}${piece.like === undefined ? '' : `, like ${piece.like}`}]`
    })
    .join('')

/** Where a character passes for another, and for which; '' if for none in particular. */
type LookAlikes = Map<number, string>

function findLookAlikes(text: string): LookAlikes {
  const found: LookAlikes = new Map()
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    findAsciiLookAlikes(word, index, found)
    if (!printableAscii.test(word)) findMixedScripts(word, index, found)
  }
  if (printableAscii.test(text)) return found
  findCompatibilityForms(text, found)
  findStackedMarks(text, found)
  findMixedDirections(text, found)
  return found
}

/** I, l and 1, O and 0: marked where the neighbours say that another one is meant. */
function findAsciiLookAlikes(word: string, start: number, found: LookAlikes): void {
  const mark = (pattern: RegExp, like: (character: string) => string): void => {
    for (const { index } of word.matchAll(pattern)) found.set(start + index, like(word[index] ?? ''))
  }
  // A letter in a number: 1O0, l00.
  if (/^[\dOoIl]+$/.test(word) && /\d/.test(word) && /\D/.test(word))
    mark(/\D/g, (letter) => (/[Oo]/.test(letter) ? '0' : '1'))
  // A capital I that ends a word of small letters: paypaI. In userId and appID it begins the next word.
  else mark(/(?<=[a-z])I(?![A-Za-z])/g, () => 'l')
  // A small l among capitals: lD, BlLL.
  mark(/(?<=[A-Z])l(?=[A-Z])|^l(?=[A-Z]{2})/g, () => 'I')
}

const latin = /\p{Script=Latin}/u
/** Written together with Latin letters in ordinary text, by UTS #39 ("highly restrictive"). */
const mixesWithLatin =
  /[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u
/** Turkish, and others that no reader takes for an i. */
const unmistakableLetters = new Set(['\u0131'])

/** Letters and digits of another script in a word with Latin letters, or a whole word that consists of look-alikes alone. */
function findMixedScripts(word: string, start: number, found: LookAlikes): void {
  const characters = [...word]
  const hasLatin = latin.test(word)
  const hasAsciiDigit = /\d/.test(word)
  const letters = characters.filter((each) => /\p{L}/u.test(each))
  const isDisguise =
    !hasLatin &&
    letters.length > 1 &&
    letters.every((each) => /[\p{Lu}\p{Ll}]/u.test(each) && /[A-Za-z]/.test(skeleton(each)))
  let at = start
  for (const each of characters) {
    const like = skeleton(each)
    const isLetter = /\p{L}/u.test(each)
    const isForeign = isLetter && !mixesWithLatin.test(each)
    const isForeignDigit = /\p{Nd}/u.test(each) && !/\d/.test(each)
    if ((hasLatin && isForeign) || (isDisguise && isLetter)) found.set(at, like)
    else if (isForeignDigit && (hasLatin || hasAsciiDigit)) found.set(at, like)
    else if (isLetter && latin.test(each) && like !== '' && !unmistakableLetters.has(each)) found.set(at, like)
    at += each.length
  }
}

/** Curly quotes, the apostrophe, dashes, the ellipsis and the trade mark: ordinary typography. */
const typography = new Set('\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u2122\u00b4')

/** Mathematical, full-width, circled and other forms of ASCII; signs such as the fraction slash. */
function findCompatibilityForms(text: string, found: LookAlikes): void {
  let at = 0
  for (const each of text) {
    if (each > '~' && !typography.has(each)) {
      const form = each.normalize('NFKC')
      if (form !== each.normalize('NFC') && /^[!-~]+$/.test(form)) found.set(at, form)
      else if (/[\p{P}\p{S}]/u.test(each) && skeleton(each) !== '') found.set(at, skeleton(each))
    }
    at += each.length
  }
}

const maxMarks = 3
const overlay = /[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5-\u20eb]/

/** Combining marks that pile up, repeat, strike a letter through, enclose it, or stand on nothing. */
function findStackedMarks(text: string, found: LookAlikes): void {
  for (const { 0: run, index } of text.matchAll(/[\p{Mn}\p{Me}]+/gu)) {
    const marks = [...run]
    const isOdd =
      marks.length > maxMarks ||
      new Set(marks).size < marks.length ||
      /\p{Me}/u.test(run) ||
      overlay.test(run) ||
      !/[\p{L}\p{N}\p{S}\p{Extended_Pictographic}\p{Mc}]$/u.test(text.slice(0, index))
    let at = index
    for (const each of marks) {
      if (isOdd && !hidden.test(each)) found.set(at, '')
      at += each.length
    }
  }
}

const rightToLeft =
  '\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}\\p{Script=Samaritan}\\p{Script=Mandaic}\\p{Script=Adlam}'
const mixedToken = /[\p{L}\p{M}\p{Nd}.,:/%+$€-]+/gu
const rightToLeftLetter = new RegExp(`[${rightToLeft}]`, 'u')

/** Digits beside right-to-left letters are shown in another order than they are stored: the letters that do it are marked. */
function findMixedDirections(text: string, found: LookAlikes): void {
  if (!rightToLeftLetter.test(text)) return
  for (const { 0: token, index } of text.matchAll(mixedToken)) {
    if (!/\p{Nd}/u.test(token) || !rightToLeftLetter.test(token)) continue
    const digits = token.match(/\p{Nd}/gu) ?? []
    const isOneSystem = digits.every((each) => /\d/.test(each)) || digits.every((each) => !/\d/.test(each))
    const hasLetters = /\p{L}/u.test(token)
    if (isOneSystem && !hasLetters) continue
    let at = index
    for (const each of token) {
      if (rightToLeftLetter.test(each) || (/\p{Nd}/u.test(each) && !/\d/.test(each))) found.set(at, skeleton(each))
      at += each.length
    }
  }
}

let table: ReadonlyMap<string, string> | undefined
/** The ASCII character that this one passes for; '' if none. Made on first use: most text is ASCII. */
function skeleton(character: string): string {
  table ??= new Map(
    confusables.flatMap(([ascii, codes]) =>
      codes.split(' ').map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), ascii] as const),
    ),
  )
  return table.get(character) ?? ''
}
