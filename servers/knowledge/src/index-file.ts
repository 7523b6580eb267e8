/** The file that `sluice-knowledge build` writes: the visible articles and their search index, ready to serve. */

import type { Article } from './article.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { createKnowledgeBase } from './knowledge-base.ts'
import type { PackedIndex } from './saved-index.ts'

/** The output of `sluice-knowledge build`: articles and their search index in one file. */
export interface Index {
  /** Changes with every rule that decides which words are in the index. */
  readonly format: 'sluice-knowledge/2'
  readonly title: string
  readonly articles: readonly Article[]
  readonly search: PackedIndex
  /** The files of the folder `skills`, if there is one. */
  readonly skills?: PackedSkillFiles
}
/** By path: a text, or other bytes. */
export type PackedSkillFiles = { readonly [path: string]: string | { readonly base64: string } }

/**
 * Loads a knowledge base. Throws for an incomplete index, because a knowledge base that finds half of its articles
 * would look like one that works.
 */
export function fromIndex(index: unknown): KnowledgeBase {
  if (!isIndex(index)) throw new TypeError(`The index file has another format; ${rebuildHint}`)
  try {
    if (index.search.documentCount === index.articles.length)
      return createKnowledgeBase(index.title, index.articles, index.search)
  } catch {
    // The error is thrown below. MiniSearch's own message would not help the reader.
  }
  throw new TypeError(`The index is damaged; ${rebuildHint}`)
}

const rebuildHint = 'build it again with "sluice-knowledge build"'

export const isIndex = (index: unknown): index is Index =>
  typeof index === 'object' &&
  index !== null &&
  'format' in index &&
  index.format === 'sluice-knowledge/2' &&
  'articles' in index &&
  Array.isArray(index.articles) &&
  'search' in index &&
  typeof index.search === 'object'
