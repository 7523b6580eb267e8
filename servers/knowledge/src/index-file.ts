/** The one file that `sluice-knowledge build` makes: the visible articles and their search index, ready to serve. */

import type { Article } from './article.ts'
import type { Base } from './base.ts'
import { createBase } from './base.ts'
import type { Saved } from './saved-index.ts'

/** What `sluice-knowledge build` writes: articles and their search index in one file. */
export interface Index {
  /** Changes with anything that decides which words are in the index. */
  readonly format: 'sluice-knowledge/1'
  readonly title: string
  readonly articles: readonly Article[]
  readonly search: Saved
}

/** Throws for anything that is not whole: a base that finds half of its articles would look like one that works. */
export function fromIndex(index: unknown): Base {
  if (!isIndex(index)) throw new TypeError(`Not an index of this version; ${remedy}`)
  try {
    if (index.search.documentCount === index.articles.length)
      return createBase(index.title, index.articles, index.search)
  } catch {
    // Said below: what MiniSearch stumbled over helps nobody.
  }
  throw new TypeError(`The index is damaged; ${remedy}`)
}

const remedy = 'make it again with "sluice-knowledge build"'

const isIndex = (index: unknown): index is Index =>
  typeof index === 'object' &&
  index !== null &&
  'format' in index &&
  index.format === 'sluice-knowledge/1' &&
  'articles' in index &&
  Array.isArray(index.articles) &&
  'search' in index &&
  typeof index.search === 'object'
