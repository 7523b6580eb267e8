/** Questions to Sluice's own documents, and the page that answers each: what people ask, also as they mistype it. */

import type { Base } from '../../servers/knowledge/src/index.ts'

/** `[question, page]`, the page as `collection/slug`. */
export const questions: readonly (readonly [question: string, page: string])[] = [
  ['what is the order of the layers', 'articles/design'],
]

export interface Answered {
  readonly asked: number
  /** The page is among the first three. */
  readonly right: number
  /** It is the first. */
  readonly first: number
  readonly missed: readonly string[]
}

export function answered(base: Base): Answered {
  const places = questions.map(([question, page]) => ({
    question,
    page,
    at: base.search(question).findIndex(({ collection, slug }) => `${collection}/${slug}` === page),
  }))
  const missed = places.filter(({ at }) => at === -1 || at > 2)
  return {
    asked: questions.length,
    right: questions.length - missed.length,
    first: places.filter(({ at }) => at === 0).length,
    missed: missed.map(
      ({ question, page, at }) => `${question} → ${page} (${at === -1 ? 'not found' : `place ${at + 1}`})`,
    ),
  }
}
