/** Creates an article for tests: everything but the slug has a default. */

import type { Article } from '../src/article.ts'

export const anArticle = (overrides: Partial<Article> & Pick<Article, 'slug'>): Article => ({
  collection: 'concepts',
  title: overrides.slug,
  description: '',
  tags: [],
  lastUpdated: '2026-01-01',
  status: 'Live',
  body: '',
  ...overrides,
})
