/** Every article at `article://collection/slug`, for clients in which people pick what a model reads. */

import { type Resource, type ResourceEntry, resource } from 'sluice'
import type { Article } from './article.ts'
import { compareCodeUnits, keyOf, uriOf } from './article.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { toText } from './texts.ts'

const pageSize = 200

export const resourcesOf = (base: KnowledgeBase): readonly Resource[] => [
  resource({
    uri: 'article://{collection}/{slug}',
    name: 'article',
    title: `${base.title} articles`,
    description: 'An article of the knowledge base as Markdown',
    mimeType: 'text/markdown',
    complete: {
      collection: (typed) => base.collections.filter((collection) => collection.startsWith(typed)),
      slug: (typed, { collection }) => [
        ...new Set(
          base.articles
            .filter((article) => collection === undefined || article.collection === collection)
            .map(({ slug }) => slug)
            .filter((slug) => slug.startsWith(typed)),
        ),
      ],
    },
    list({ cursor }) {
      const from = cursor === undefined ? 0 : base.articles.findIndex((article) => isAfterCursor(article, cursor))
      const shown = from === -1 ? [] : base.articles.slice(from, from + pageSize)
      const last = shown.at(-1)
      const more = last !== undefined && from + pageSize < base.articles.length
      return { resources: shown.map(toEntry), ...(more && { next: cursorOf(last) }) }
    },
    read({ collection, slug }) {
      const [article] = base.findByName(`${collection}/${slug}`)
      return article && toText(base, article)
    },
  }),
]

/** Encodes the end of a page as values, not as a count, because articles come and go between two pages. */
const cursorOf = (article: Article): string => `${article.lastUpdated} ${keyOf(article)}`

function isAfterCursor(article: Article, cursor: string): boolean {
  const [date = '', ...key] = cursor.split(' ')
  const order = compareCodeUnits(date, article.lastUpdated) || compareCodeUnits(keyOf(article), key.join(' '))
  return order > 0
}

function toEntry(article: Article): ResourceEntry {
  const { slug, title, description, lastUpdated } = article
  return {
    uri: uriOf(article),
    name: slug,
    title,
    ...(description !== '' && { description }),
    mimeType: 'text/markdown',
    annotations: { lastModified: new Date(lastUpdated).toISOString() },
  }
}
