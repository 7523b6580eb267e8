/**
 * Searches articles with MiniSearch. Known words are taken as they are. Only a word that occurs in no article is
 * treated as a misspelling, so that `form` does not find `from` and a common word costs one look-up.
 */

import MiniSearch, { type Options, type SearchOptions } from 'minisearch'
import type { Article } from './article.ts'
import { keyOf } from './article.ts'
import { foldAccents } from './fold.ts'
import { type PackedIndex, pack, SavedIndex } from './saved-index.ts'

export interface Search {
  add(article: Article): void
  remove(key: string): void
  /** Returns keys, best match first. */
  find(query: string): readonly string[]
  /** Returns articles with similar titles, for queries that `find` has no result for. */
  suggest(query: string, limit?: number): readonly string[]
  save(): PackedIndex
}

interface Entry {
  readonly id: string
  readonly title: string
  readonly tags: string
  readonly description: string
  readonly headings: string
  readonly body: string
  readonly code: string
}

const boost = { title: 3, tags: 2.5, description: 2, headings: 1.5, body: 1, code: 0.4 }

/**
 * A reference page contains every word that a question may have. A name is found there anyway, because it occurs
 * nowhere else. A question in words is better answered by a page that explains.
 */
const isReference = (key: string): boolean => key.startsWith('reference/')
const referenceWeight = 0.3

/** Words that occur in every question and in every article. */
const stopWords = new Set(
  `a about above all also am an and any are as at be because been before but by can cannot could did do does doing done each for
   from get gets give had has have he her here his how i if in into is it its just let like make makes many may me more most much must my need
   needs no not now of off on one only or other our out over own per same she should so some such than that the their them
   then there these they this those through to too under until up us use used uses using very want was way we were what
   when where whether which while who whom why will with would you your`.split(/\s+/),
)

/** A longer string is not a word: keys and images in a text would fill the index. */
const maxWordLength = 40

/**
 * Splits into runs of letters and digits; names such as `get_article` and `createServer` count whole and by their
 * parts.
 */
const tokenize = (text: string): string[] =>
  (text.normalize('NFC').match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []).flatMap((name) => {
    const parts = name.split(/_+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '')
    const words = parts.length > 1 ? [name, ...parts] : parts
    return words.map((word) => word.toLowerCase()).filter(({ length }) => length <= maxWordLength)
  })

/**
 * Reduces `rotate`, `rotates`, `rotated`, `rotating` and `rotation` to one stem. The stem may not be a word; it is
 * never shown.
 */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  const one = /(?:ss|us|is)$/.test(word) ? word : word.replace(/ies$/, 'y').replace(/(?<=ss|x|sh|[nrt]ch)es$|s$/, '')
  const base = one.replace(/(?<=[aeiouy][a-z]*[^e])(?:ed|ing)$|(?<=[aeiouy][a-z]*[aeiouy][st])ion$/, '')
  return base === one ? base.replace(/(?<=...)e$/, '') : base.replace(/([^aeioulsz])\1$/, '$1')
}

/** Returns the form of a word that is compared. Accents count for stop words only: `ăn` is not the article `an`. */
const toTerm = (word: string): string | null => (stopWords.has(word) ? null : stem(foldAccents(word)))

/** Returns how many letters may be wrong in a word of this length. */
const maxTypos = ({ length }: string): number => (length < 4 ? 0 : length < 8 ? 1 : 2)

/** Each guess scans all known words. A question with more unknown words than this is not misspelt. */
const maxFuzzyWords = 4

/** Later results are unlikely to be relevant. */
const maxResults = 20
export const maxSuggestions = 3

export function createSearch(articles: Iterable<Article>, saved?: PackedIndex): Search {
  const known = new Set<string>(saved?.words.map(([word]) => word))
  const options: Options<Entry> = {
    fields: Object.keys(boost),
    tokenize,
    processTerm(word) {
      const term = toTerm(word)
      if (term !== null) known.add(term)
      return term
    },
  }
  const mini = saved ? new SavedIndex(options, saved) : new MiniSearch(options)
  if (!saved) for (const article of articles) mini.add(toEntry(article))
  /** Undoes two swapped letters. They are one typing error, but two edits. */
  function swapped(word: string): string {
    if (known.has(word)) return word
    const others = Array.from(word.slice(1), (letter, at) => word.slice(0, at) + letter + word[at] + word.slice(at + 2))
    return others.find((other) => known.has(other)) ?? word
  }
  /** Returns the options for one query. `guessed` holds the words treated as misspellings so far. */
  const queryOptions = (guessed = new Set<string>()): SearchOptions => {
    const mayGuess = (word: string): boolean => {
      if (known.has(word)) return false
      if (guessed.size < maxFuzzyWords) guessed.add(word)
      return guessed.has(word)
    }
    return {
      boost,
      boostDocument: (key) => (isReference(String(key)) ? referenceWeight : 1),
      tokenize,
      processTerm(word) {
        const term = toTerm(word)
        return term === null ? null : swapped(term)
      },
      fuzzy: (word) => mayGuess(word) && maxTypos(word),
      prefix: (word) => mayGuess(word) && word.length > 2,
    }
  }
  const wordsOf = (query: string): number =>
    new Set(
      tokenize(query)
        .map(toTerm)
        .filter((term) => term !== null),
    ).size
  return {
    add: (article) => mini.add(toEntry(article)),
    remove: (key) => mini.discard(key),
    find(query) {
      // One word in common with a long question is a coincidence; a guessed word counts half.
      const enough = wordsOf(query) / 4
      const weigh = (words: readonly string[]): number =>
        [...new Set(words)].reduce((sum, word) => sum + (known.has(word) ? 1 : 0.5), 0)
      return mini
        .search(query, { ...queryOptions(), filter: ({ queryTerms }) => weigh(queryTerms) >= enough })
        .slice(0, maxResults)
        .map(({ id }) => String(id))
    },
    suggest: (query, limit = maxSuggestions) =>
      mini
        .search(tokenize(query).slice(0, maxFuzzyWords).join(' '), {
          ...queryOptions(),
          fields: ['title', 'tags'],
          fuzzy: 0.34,
          prefix: true,
        })
        .slice(0, limit)
        .map(({ id }) => String(id)),
    save: () => pack(mini.toJSON()),
  }
}

/** Matches a fenced code block. */
const fencedCode = /^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm

/** Separates code from prose. Programs repeat the same few names, so they weigh less than the text about them. */
const toEntry = (article: Article): Entry => {
  const prose = article.body.replace(fencedCode, '')
  return {
    id: keyOf(article),
    title: [article.title, article.longTitle, article.slug, ...(article.aliases ?? [])].join(' '),
    tags: article.tags.join(' '),
    description: article.description,
    headings: [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading).join('\n'),
    body: prose,
    code: article.body.match(fencedCode)?.join('\n') ?? '',
  }
}
