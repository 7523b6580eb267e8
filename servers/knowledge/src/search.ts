/**
 * Search over articles with MiniSearch. Words the articles know are taken as they are; only a word nobody wrote is taken
 * for a misspelling of one that somebody did, so that `form` does not find `from` and a common word costs one look-up.
 */

import MiniSearch, { type Options, type SearchOptions } from 'minisearch'
import type { Article } from './article.ts'
import { keyOf } from './article.ts'
import { type PackedIndex, pack, SavedIndex } from './saved-index.ts'

export interface Search {
  add(article: Article): void
  remove(key: string): void
  /** Keys, the best first. */
  find(query: string): readonly string[]
  /** Titles that look alike, where `find` has nothing. */
  suggest(query: string): readonly string[]
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
 * A reference has every word a question may have, on each of its pages. Whoever looks up a name there finds it, since
 * nobody else has it; whoever asks in words wants a page that explains.
 */
const isReference = (key: string): boolean => key.startsWith('reference/')
const referenceWeight = 0.3

/** Said in every question and in every article. */
const stopWords = new Set(
  `a about above all also am an and any are as at be because been before but by can cannot could did do does doing done each for
   from get gets give had has have he her here his how i if in into is it its just let like make makes many may me more most much must my need
   needs no not now of off on one only or other our out over own per same she should so some such than that the their them
   then there these they this those through to too under until up us use used uses using very want was way we were what
   when where whether which while who whom why will with would you your`.split(/\s+/),
)

/** What is longer is no word: keys and pictures in a text would fill the index. */
const maxWordLength = 40

/** Letters and digits in one piece; names such as `get_article` and `createServer` whole and in their parts. */
const tokenize = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((name) => {
    const parts = name.split(/_+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '')
    const words = parts.length > 1 ? [name, ...parts] : parts
    return words.map((word) => word.toLowerCase()).filter(({ length }) => length <= maxWordLength)
  })

/** `rotate`, `rotates`, `rotated`, `rotating` and `rotation` are one word. Cut by rule, so the rest may be no word: it is never shown. */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  const one = /(?:ss|us|is)$/.test(word) ? word : word.replace(/ies$/, 'y').replace(/(?<=ss|x|sh|[nrt]ch)es$|s$/, '')
  const base = one.replace(/(?<=[aeiouy][a-z]*[^e])(?:ed|ing)$|(?<=[aeiouy][a-z]*[aeiouy][st])ion$/, '')
  return base === one ? base.replace(/(?<=...)e$/, '') : base.replace(/([^aeioulsz])\1$/, '$1')
}

/** Letters that may be wrong in a word of this length. */
const maxTypos = ({ length }: string): number => (length < 4 ? 0 : length < 8 ? 1 : 2)

/** Each guess looks through all words there are. A question with more unknown words than this is not misspelt. */
const maxFuzzyWords = 4

/** Results past this are not what was asked for. */
const maxResults = 20

export function createSearch(articles: Iterable<Article>, saved?: PackedIndex): Search {
  const known = new Set<string>(saved?.words.map(([word]) => word))
  const options: Options<Entry> = {
    fields: Object.keys(boost),
    tokenize,
    processTerm(word) {
      if (stopWords.has(word)) return null
      const stemmed = stem(word)
      known.add(stemmed)
      return stemmed
    },
  }
  const mini = saved ? new SavedIndex(options, saved) : new MiniSearch(options)
  if (!saved) for (const article of articles) mini.add(toEntry(article))
  /** Two letters in the wrong order are one slip of the fingers, but two edits. */
  function swapped(word: string): string {
    if (known.has(word)) return word
    const others = Array.from(word.slice(1), (letter, at) => word.slice(0, at) + letter + word[at] + word.slice(at + 2))
    return others.find((other) => known.has(other)) ?? word
  }
  /** For one question: `guessed` are the words that were taken for misspellings so far. */
  const asking = (guessed = new Set<string>()): SearchOptions => {
    const mayGuess = (word: string): boolean => {
      if (known.has(word)) return false
      if (guessed.size < maxFuzzyWords) guessed.add(word)
      return guessed.has(word)
    }
    return {
      boost,
      boostDocument: (key) => (isReference(String(key)) ? referenceWeight : 1),
      tokenize,
      processTerm: (word) => (stopWords.has(word) ? null : swapped(stem(word))),
      fuzzy: (word) => mayGuess(word) && maxTypos(word),
      prefix: (word) => mayGuess(word) && word.length > 2,
    }
  }
  const wordsOf = (query: string): number =>
    new Set(
      tokenize(query)
        .filter((word) => !stopWords.has(word))
        .map(stem),
    ).size
  return {
    add: (article) => mini.add(toEntry(article)),
    remove: (key) => mini.discard(key),
    find(query) {
      // One word in common with a long question is an accident; a guess at a misspelt one is worth half.
      const enough = wordsOf(query) / 4
      const weigh = (words: readonly string[]): number =>
        [...new Set(words)].reduce((sum, word) => sum + (known.has(word) ? 1 : 0.5), 0)
      return mini
        .search(query, { ...asking(), filter: ({ queryTerms }) => weigh(queryTerms) >= enough })
        .slice(0, maxResults)
        .map(({ id }) => String(id))
    },
    suggest: (query) =>
      mini
        .search(tokenize(query).slice(0, maxFuzzyWords).join(' '), {
          ...asking(),
          fields: ['title', 'tags'],
          fuzzy: 0.34,
          prefix: true,
        })
        .slice(0, 3)
        .map(({ id }) => String(id)),
    save: () => pack(mini.toJSON()),
  }
}

/** Between two lines of fence. */
const fencedCode = /^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm

/** Programs repeat the same few names, so they weigh less than what is said about them. */
const toEntry = (article: Article): Entry => {
  const prose = article.body.replace(fencedCode, '')
  return {
    id: keyOf(article),
    title: [article.title, article.longTitle, article.slug].join(' '),
    tags: article.tags.join(' '),
    description: article.description,
    headings: [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading).join('\n'),
    body: prose,
    code: article.body.match(fencedCode)?.join('\n') ?? '',
  }
}
