/** What counts as a word, the same for what is stored and for what is asked. */

const ideograph = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu

/** Words of a question beyond this many add nothing but time. */
const maxWords = 32

/** Chinese and Japanese have no spaces between words; each sign is then a word of its own, and a run of them a phrase. */
export const spaceIdeographs = (text: string): string =>
  text.search(ideograph) < 0 ? text : text.replace(ideograph, ' $& ')

/** Without accents, as SQLite's index has it by itself. */
export const foldAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')

/** The different words of a question. One that is a run of ideographs comes with spaces in it: a phrase. */
export function wordsOf(query: string): readonly string[] {
  const found = new Set<string>()
  for (const [match] of query.toLowerCase().matchAll(word)) {
    for (const part of phrases(match)) found.add(part)
    if (found.size >= maxWords) break
  }
  return [...found].slice(0, maxWords)
}

/** `日本語text` is two: `日 本 語` and `text`. */
const phrases = (run: string): readonly string[] =>
  run.search(ideograph) < 0
    ? [run]
    : run
        .split(/([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+)/u)
        .filter((part) => part !== '')
        .map((part) => spaceIdeographs(part).trim().replace(/ +/g, ' '))
