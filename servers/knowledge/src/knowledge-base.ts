/** The visible articles: found by name, listed and searched. Changed files are put and removed one at a time. */

import type { Article } from './article.ts'
import { byDate, compareCodeUnits, isVisible, keyOf } from './article.ts'
import { foldName } from './fold.ts'
import type { Index } from './index-file.ts'
import { createSearch, maxSuggestions } from './search.ts'
import { isSimilarName } from './similar-name.ts'

/** The visible articles: found by name, listed and searched. */
export interface KnowledgeBase {
  /** The subject of the articles, such as `ASDLC`. Models choose the tools by it. */
  readonly title: string
  /** In alphabetical order. */
  readonly collections: readonly string[]
  /** Newest first. */
  readonly articles: readonly Article[]
  /** Finds articles by `slug` or `collection/slug`. If several share a slug, the first collection's comes first. */
  findByName(name: string): readonly Article[]
  /** Finds the article that a link of Obsidian means: by its path, slug, alias or title, in any case. */
  findByLink(name: string): Article | undefined
  search(query: string): readonly Article[]
  /** Returns articles that a misspelt query may have meant. */
  suggest(query: string): readonly Article[]
  /** Returns articles whose slug is similar to a misspelt one. */
  suggestByName(name: string): readonly Article[]
  /** Adds or replaces an article. Putting a hidden article removes the earlier, visible version. */
  put(article: Article): void
  remove(key: string): void
  toIndex(): Index
}

/** Articles with similar titles whose slugs are compared with a misspelt one. */
const maxCompared = 30

/** Creates a knowledge base of these articles. `saved` is their search index, if it was built before. */
export function createKnowledgeBase(title: string, all: Iterable<Article>, saved?: Index['search']): KnowledgeBase {
  const byKey = new Map([...all].filter(isVisible).map((article) => [keyOf(article), article]))
  const search = createSearch(byKey.values(), saved)
  const toArticles = (keys: readonly string[]): readonly Article[] => keys.flatMap((key) => byKey.get(key) ?? [])
  let sorted: ReturnType<typeof sortArticles> | undefined
  const sortedArticles = (): ReturnType<typeof sortArticles> => {
    sorted ??= sortArticles(byKey.values())
    return sorted
  }
  function remove(key: string): void {
    if (!byKey.delete(key)) return
    search.remove(key)
    sorted = undefined
  }
  return {
    title,
    get collections() {
      return sortedArticles().collections
    },
    get articles() {
      return sortedArticles().articles
    },
    findByName(name) {
      const exact = byKey.get(name)
      return exact ? [exact] : (sortedArticles().bySlug.get(name) ?? [])
    },
    findByLink: (name) =>
      sortedArticles()
        .byLink()
        .get(foldName(name.replace(/\.md$/i, '').replaceAll('/', '-'))),
    search: (query) => toArticles(search.find(query)),
    suggest: (query) => toArticles(search.suggest(query)),
    suggestByName: (name) =>
      toArticles(search.suggest(name, maxCompared))
        .filter((article) => isSimilarName(name, article.slug) || isSimilarName(name, keyOf(article)))
        .slice(0, maxSuggestions),
    put(article) {
      remove(keyOf(article))
      if (!isVisible(article)) return
      byKey.set(keyOf(article), article)
      search.add(article)
      sorted = undefined
    },
    remove,
    toIndex: () => ({
      format: 'sluice-knowledge/2',
      title,
      articles: sortedArticles().articles,
      search: search.save(),
    }),
  }
}

function sortArticles(unordered: Iterable<Article>): {
  readonly articles: readonly Article[]
  readonly collections: readonly string[]
  readonly bySlug: ReadonlyMap<string, readonly Article[]>
  readonly byLink: () => ReadonlyMap<string, Article>
} {
  const articles = [...unordered].sort(byDate)
  let byLink: ReadonlyMap<string, Article> | undefined
  const byCollection = [...articles].sort((a, b) => compareCodeUnits(keyOf(a), keyOf(b)))
  return {
    articles,
    collections: [...new Set(byCollection.map(({ collection }) => collection))],
    bySlug: Map.groupBy(byCollection, ({ slug }) => slug),
    byLink() {
      byLink ??= indexByLink(byCollection)
      return byLink
    },
  }
}

/** A path is more exact than a slug, a slug than an alias, and an alias than a title; the first article wins. */
function indexByLink(articles: readonly Article[]): ReadonlyMap<string, Article> {
  const byLink = new Map<string, Article>()
  const add = (name: string, article: Article): void => {
    const key = foldName(name)
    if (!byLink.has(key)) byLink.set(key, article)
  }
  for (const article of articles) add(keyOf(article).replaceAll('/', '-'), article)
  for (const article of articles) add(article.slug, article)
  for (const article of articles) for (const alias of article.aliases ?? []) add(alias, article)
  for (const article of articles) add(article.title, article)
  return byLink
}
