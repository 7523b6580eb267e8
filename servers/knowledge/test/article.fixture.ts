/** An article for tests: what is not at stake is filled in. */

import type { Article } from '../src/article.ts'

export const anArticle = (given: Partial<Article> & Pick<Article, 'slug'>): Article => ({
  collection: 'concepts',
  title: given.slug,
  description: '',
  tags: [],
  lastUpdated: '2026-01-01',
  status: 'Live',
  body: '',
  ...given,
})
