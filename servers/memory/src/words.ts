/** Defines what counts as a word, the same for stored texts and for queries. */

const ideograph = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu

/** Words that occur in every question and say nothing about the answer. */
const stopWords = new Set(
  `a about am an and any are as at be been but by can could did do does for from had has have he her hers him his how i if in
   into is it its me my of on or our ours she should so than that the their them then there these they this those to us was
   we were what when where which who whom whose why will with would you your yours`.split(/\s+/),
)

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

const gap = /[^\p{L}\p{N}\p{M}\p{Co}]+/gu

/**
 * Returns only the words of a text, for PostgreSQL. Its parser takes an address, a path, a version or a date for one
 * word, which no word of a query matches.
 */
export const onlyWords = (text: string): string => foldAccents(spaceIdeographs(text.toLowerCase()).replace(gap, ' '))

/**
 * Returns the distinct words of a query that say something. A run of ideographs contains spaces: it is a phrase. A query
 * of stop words only is a phrase too: "The Who" is a name, and neither of its words may match alone.
 */
export function wordsOf(query: string): readonly string[] {
  const found = new Set<string>()
  for (const [match] of query.toLowerCase().matchAll(word)) {
    for (const part of phrases(match)) found.add(part)
    if (found.size >= 2 * maxWords) break
  }
  const telling = [...found].filter((each) => !stopWords.has(each))
  if (telling.length > 0) return telling.slice(0, maxWords)
  return found.size > 1 ? [[...found].join(' ')] : []
}

/** Splits `日本語text` into `日 本 語` and `text`. */
const phrases = (run: string): readonly string[] =>
  run.search(ideograph) < 0
    ? [run]
    : run
        .split(/([\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+)/u)
        .filter((part) => part !== '')
        .map((part) => spaceIdeographs(part).trim().replace(/ +/g, ' '))

/** Endings of the same root that stemming keeps apart: allergy, allergic; decide, decision. */
const families: readonly (readonly [endings: RegExp, forms: readonly string[]])[] = [
  [/(?<=\p{L}{4})(?:y|ies|ic|ics|ical|ically|ists?)$/u, ['y', 'ic', 'ist']],
  [/(?<=\p{L}{2})(?:ide[sd]?|iding|isions?|isive)$/u, ['ide', 'ision']],
  [/(?<=\p{L}{3})(?:ude[sd]?|uding|usions?|usive)$/u, ['ude', 'usion']],
  [/(?<=\p{L}{2})(?:ends?|ended|ending|ensions?)$/u, ['end', 'ension']],
]

/** Returns the forms under which a word of a query is searched, each of which the database stems. */
export function variantsOf(word: string): readonly string[] {
  const family = families.find(([endings]) => endings.test(word))
  if (!family) return [word]
  const [endings, forms] = family
  return forms.map((form) => word.replace(endings, form))
}
