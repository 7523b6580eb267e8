/** All articles that may be seen: found by name, listed, searched. Files that change on disk go in and out one by one. */

import type { Article } from './article.ts'
import { byDate, compareCodeUnits, isVisible, keyOf } from './article.ts'
import type { Index } from './index-file.ts'
import { createSearch } from './search.ts'

/** All articles that may be seen: found by name, listed, searched. */
export interface App {
  /** What the articles are about, such as `ASDLC`: part of what a model chooses the tools by. */
  readonly title: string
  /** In alphabetical order. */
  readonly collections: readonly string[]
  /** Newest first. */
  readonly articles: readonly Article[]
  /** By `slug` or `collection/slug`. Of several with one slug the first collection's, then the others. */
  findByName(name: string): readonly Article[]
  search(query: string): readonly Article[]
  /** What somebody who misspelt a name or a query may have meant. */
  suggest(query: string): readonly Article[]
  /** Hidden ones are left out: putting one in takes its earlier, visible self away. */
  put(article: Article): void
  remove(key: string): void
  toIndex(): Index
}

/** A base of these articles; `saved` is their search index, if it was made before. */
export function createApp(title: string, all: Iterable<Article>, saved?: Index['search']): App {
  const byKey = new Map([...all].filter(isVisible).map((article) => [keyOf(article), article]))
  const search = createSearch(byKey.values(), saved)
  const toArticles = (keys: readonly string[]): readonly Article[] => keys.flatMap((key) => byKey.get(key) ?? [])
  let shelves: ReturnType<typeof sortArticles> | undefined
  const shelved = (): ReturnType<typeof sortArticles> => {
    shelves ??= sortArticles(byKey.values())
    return shelves
  }
  function remove(key: string): void {
    if (!byKey.delete(key)) return
    search.remove(key)
    shelves = undefined
  }
  return {
    title,
    get collections() {
      return shelved().collections
    },
    get articles() {
      return shelved().articles
    },
    findByName(name) {
      const exact = byKey.get(name)
      return exact ? [exact] : (shelved().bySlug.get(name) ?? [])
    },
    search: (query) => toArticles(search.find(query)),
    suggest: (query) => toArticles(search.suggest(query)),
    put(article) {
      remove(keyOf(article))
      if (!isVisible(article)) return
      byKey.set(keyOf(article), article)
      search.add(article)
      shelves = undefined
    },
    remove,
    toIndex: () => ({ format: 'sluice-knowledge/1', title, articles: shelved().articles, search: search.save() }),
  }
}

function sortArticles(unordered: Iterable<Article>): {
  readonly articles: readonly Article[]
  readonly collections: readonly string[]
  readonly bySlug: ReadonlyMap<string, readonly Article[]>
} {
  const articles = [...unordered].sort(byDate)
  const byCollection = [...articles].sort((a, b) => compareCodeUnits(keyOf(a), keyOf(b)))
  return {
    articles,
    collections: [...new Set(byCollection.map(({ collection }) => collection))],
    bySlug: Map.groupBy(byCollection, ({ slug }) => slug),
  }
}
