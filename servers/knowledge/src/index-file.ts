/** The one file that `sluice-knowledge build` makes: the visible articles and their search index, ready to serve. */

import type { App } from './app.ts'
import { createApp } from './app.ts'
import type { Article } from './article.ts'
import type { PackedIndex } from './saved-index.ts'

/** What `sluice-knowledge build` writes: articles and their search index in one file. */
export interface Index {
  /** Changes with anything that decides which words are in the index. */
  readonly format: 'sluice-knowledge/1'
  readonly title: string
  readonly articles: readonly Article[]
  readonly search: PackedIndex
}

/** Throws for anything that is not whole: a base that finds half of its articles would look like one that works. */
export function fromIndex(index: unknown): App {
  if (!isIndex(index)) throw new TypeError(`Not an index of this version; ${rebuildHint}`)
  try {
    if (index.search.documentCount === index.articles.length)
      return createApp(index.title, index.articles, index.search)
  } catch {
    // Said below: what MiniSearch stumbled over helps nobody.
  }
  throw new TypeError(`The index is damaged; ${rebuildHint}`)
}

const rebuildHint = 'make it again with "sluice-knowledge build"'

const isIndex = (index: unknown): index is Index =>
  typeof index === 'object' &&
  index !== null &&
  'format' in index &&
  index.format === 'sluice-knowledge/1' &&
  'articles' in index &&
  Array.isArray(index.articles) &&
  'search' in index &&
  typeof index.search === 'object'
