/** Defines what counts as a word, the same for stored texts and for queries. */

const ideograph = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu

/** More words of a query would only add time. */
const maxWords = 32

/** Chinese and Japanese have no spaces between words, so each character becomes a word, and a run of them a phrase. */
export const spaceIdeographs = (text: string): string =>
  text.search(ideograph) < 0 ? text : text.replace(ideograph, ' $& ')

/** Removes accents, as SQLite's index does by itself. */
export const foldAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')

/** Returns the distinct words of a query. A run of ideographs contains spaces: it is a phrase. */
export function wordsOf(query: string): readonly string[] {
  const found = new Set<string>()
  for (const [match] of query.toLowerCase().matchAll(word)) {
    for (const part of phrases(match)) found.add(part)
    if (found.size >= maxWords) break
  }
  return [...found].slice(0, maxWords)
}

/** Splits `日本語text` into `日 本 語` and `text`. */
const phrases = (run: string): readonly string[] =>
  run.search(ideograph) < 0
    ? [run]
    : run
        .split(/([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+)/u)
        .filter((part) => part !== '')
        .map((part) => spaceIdeographs(part).trim().replace(/ +/g, ' '))
