/**
 * Marks characters that are invisible, reorder their neighbours or look like another character. Otherwise a manipulated
 * agent could hide words from the person who decides.
 *
 * The console and the command both show tickets with this function. Look-alikes come from UTS #39 (`confusables.ts`) and
 * are marked only where its rules on script mixing apply. Москва is a word; the Cyrillic а in "pаypal" is marked.
 */

import { confusables } from './confusables.ts'

export type MarkedPiece =
  | { readonly kind: 'text'; readonly text: string }
  /** An invisible character, or one that reorders its neighbours. */
  | { readonly kind: 'hidden'; readonly text: string; readonly code: string }
  /** A character that looks like another one. `like` is that one, if known. */
  | { readonly kind: 'alike'; readonly text: string; readonly code: string; readonly like?: string }

/** Controls, formats (bidirectional ones too), private and unassigned code points, lone surrogates, odd spaces, fillers. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/u
/** Ordinary ASCII text. Only its letters and digits can look like each other. */
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

/** Returns `U+202E RLO`. For the invisible tag characters it also returns the letter they stand for. */
export function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const number = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  if (point >= 0xe0020 && point <= 0xe007e) return `${number} TAG ${String.fromCodePoint(point - 0xe0000)}`
  const name = codePointNames.get(point)
  return name === undefined ? number : `${number} ${name}`
}

/** Splits the text into pieces. Joined, they are the text again. */
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

/** Writes the marks out for a terminal: `p\u0430ypal` becomes `pа[U+0430, like a]ypal`. Line breaks stay. */
export const markedText = (text: string): string => text.split('\n').map(markedLine).join('\n')

const markedLine = (line: string): string =>
  markedPieces(line)
    .map((piece) => {
      if (piece.kind === 'text') return piece.text
      if (piece.kind === 'hidden') return `[${piece.code}]`
      return `${piece.text}[${piece.code}${piece.like === undefined ? '' : `, like ${piece.like}`}]`
    })
    .join('')

/** The position of each look-alike and the character it looks like; '' if that is no particular one. */
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

/** Marks I, l, 1, O and 0 where their neighbours suggest that another one is meant. */
function findAsciiLookAlikes(word: string, start: number, found: LookAlikes): void {
  const mark = (pattern: RegExp, like: (character: string) => string): void => {
    for (const { index } of word.matchAll(pattern)) found.set(start + index, like(word[index] ?? ''))
  }
  // A letter in a number: 1O0, l00.
  if (/^[\dOoIl]+$/.test(word) && /\d/.test(word) && /\D/.test(word))
    mark(/\D/g, (letter) => (/[Oo]/.test(letter) ? '0' : '1'))
  // A capital I that ends a word of lowercase letters: paypaI. In userId and appID it begins the next word.
  else mark(/(?<=[a-z])I(?![A-Za-z])/g, () => 'l')
  // A lowercase l among capitals: lD, BlLL.
  mark(/(?<=[A-Z])l(?=[A-Z])|^l(?=[A-Z]{2})/g, () => 'I')
}

const latin = /\p{Script=Latin}/u
/** Scripts that ordinary text mixes with Latin letters, by UTS #39 ("highly restrictive"). */
const mixesWithLatin =
  /[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u
/** Letters that no reader mistakes for an ASCII letter, such as the Turkish dotless i. */
const unmistakableLetters = new Set(['\u0131'])

/** Finds characters of another script in a word with Latin letters, and words that consist of look-alikes alone. */
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

/** Finds mathematical, full-width, circled and other forms of ASCII, and signs such as the fraction slash. */
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

/** Finds combining marks that pile up, repeat, strike a letter through, enclose it, or have no base character. */
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
const mixedToken = /[\p{L}\p{M}\p{Nd}.,:/%+$\u20ac-]+/gu
const rightToLeftLetter = new RegExp(`[${rightToLeft}]`, 'u')

/** Marks right-to-left letters beside digits, because they show the digits in another order than they are stored. */
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
/** Returns the ASCII character that this one looks like; '' if none. The table is made on first use: most text is ASCII. */
function skeleton(character: string): string {
  table ??= new Map(
    confusables.flatMap(([ascii, codes]) =>
      codes.split(' ').map((code) => [String.fromCodePoint(Number.parseInt(code, 16)), ascii] as const),
    ),
  )
  return table.get(character) ?? ''
}
