/**
 * A made-up knowledge base, the same in every run. Words follow Zipf's law as in prose, a third of them are common
 * small words, and each article repeats its subject.
 */

export interface MadeArticle {
  readonly slug: string
  readonly collection: string
  readonly title: string
  readonly tags: readonly string[]
  readonly description: string
  readonly body: string
}

const syllables = 'ba ce di fo gu la me ni po ru sa te vi ko zu tra pre con ent al er ist or mar lin den sto pel'.split(
  ' ',
)
const small =
  'the of and to in a is that for it as was with be by on not this are or from at which but have an they'.split(' ')
const vocabularySize = 30_000
const collections = ['concepts', 'patterns', 'practices']

/** A seeded generator: the same numbers every time. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export interface Library {
  readonly articles: readonly MadeArticle[]
  /** Queries for one of them: two to four of its words, one in five misspelt. */
  readonly queries: readonly string[]
}

export function makeLibrary(count: number, queries: number): Library {
  const random = createRandom(7)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const made = new Set<string>()
  while (made.size < vocabularySize) {
    let word = ''
    for (let i = 2 + Math.floor(random() * 3); i > 0; i--) word += pick(syllables)
    made.add(word)
  }
  const vocabulary = [...made]
  /** Picks rank n with a weight of 1/n: the inverse of its sum is exponential. */
  const zipf = (): string => vocabulary[Math.floor(Math.exp(random() * Math.log(vocabularySize))) - 1] ?? ''
  const prose = (words: number, subject: readonly string[]): string =>
    Array.from({ length: words }, () => {
      const dice = random()
      return dice < 0.35 ? pick(small) : dice < 0.4 ? pick(subject) : zipf()
    }).join(' ')

  const articles = Array.from({ length: count }, (_, index): MadeArticle => {
    const subject = Array.from({ length: 4 }, () => pick(vocabulary))
    const sections = Array.from(
      { length: 4 },
      () => `## ${prose(3, subject)}\n\n${prose(90 + random() * 60, subject)}.`,
    )
    return {
      slug: `article-${index}`,
      collection: pick(collections),
      title: subject.slice(0, 2).join(' '),
      tags: subject.slice(1, 3),
      description: prose(15, subject),
      body: sections.join('\n\n'),
    }
  })
  const mangle = (word: string): string => {
    const at = 1 + Math.floor(random() * (word.length - 2))
    return word.slice(0, at) + pick(['x', 'e', '']) + word.slice(at + 1)
  }
  return {
    articles,
    queries: Array.from({ length: queries }, () => {
      const { title, body } = pick(articles)
      const words = [...title.split(' '), pick(body.split(/\W+/)), pick(body.split(/\W+/))].slice(0, 2 + random() * 3)
      return words.map((word) => (random() < 0.2 && word.length > 4 ? mangle(word) : word)).join(' ')
    }),
  }
}

export const toMarkdown = ({ title, tags, description, body }: MadeArticle, index: number): string => `---
title: ${title}
description: ${description}
tags: [${tags.join(', ')}]
lastUpdated: 2026-${String((index % 12) + 1).padStart(2, '0')}-${String((index % 28) + 1).padStart(2, '0')}
status: Live
---

${body}
`
