import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { anArticle } from '../test/article.fixture.ts'
import type { Article } from './article.ts'
import { knowledge } from './definition.ts'
import { createKnowledgeBase } from './knowledge-base.ts'
import { refresh } from './refresh.ts'

const inCollectionC = (slug: string, overrides: Partial<Article> = {}): Article =>
  anArticle({ collection: 'c', slug, ...overrides })

/** Creates a knowledge base with the articles `a` and `b`, and a client subscribed to everything in it. */
async function notificationsAfter(change: { put?: readonly Article[]; removed?: readonly string[] }) {
  const base = createKnowledgeBase('Test', [
    inCollectionC('a'),
    inCollectionC('b'),
    inCollectionC('draft', { status: 'Draft' }),
  ])
  const server = createServer(knowledge(base))
  const client = await testClient(server, { revision: '2025-11-25' })
  for (const slug of ['a', 'b', 'draft', 'new'])
    await client.request('resources/subscribe', { uri: `article://c/${slug}` })
  refresh(base, { put: [], removed: [], ...change }, server)
  const { tools } = await client.request('tools/list')
  return {
    tools,
    notifications: client.received.map(({ method, params }) => [method, (params as { uri?: string }).uri]),
  }
}
const lists = ['notifications/resources/list_changed', undefined]
const updated = (slug: string) => ['notifications/resources/updated', `article://c/${slug}`]

test('a changed text updates that article, and no list', async () => {
  const { notifications } = await notificationsAfter({ put: [inCollectionC('a', { body: 'other' })] })
  expect(notifications).toEqual([updated('a')])
})

test.each([
  ['a new article', { put: [inCollectionC('new')] }, 'new'],
  ['a changed title', { put: [inCollectionC('a', { title: 'Other' })] }, 'a'],
  ['one that became a draft', { put: [inCollectionC('a', { status: 'Draft' as const })] }, 'a'],
  ['a published one', { put: [inCollectionC('draft')] }, 'draft'],
  ['a deleted one', { removed: ['c/b'] }, 'b'],
])('%s also changes the list', async (_what, change, slug) => {
  const { notifications } = await notificationsAfter(change)
  expect(notifications).toEqual([lists, updated(slug)])
})

test('clients are not notified of articles that stay hidden', async () => {
  const change = { put: [inCollectionC('draft', { status: 'Draft', title: 'Secret' })], removed: ['c/other-draft'] }
  expect((await notificationsAfter(change)).notifications).toEqual([])
})

test('a new collection is announced with the tools that name it', async () => {
  const { tools, notifications } = await notificationsAfter({ put: [inCollectionC('x', { collection: 'fresh' })] })
  expect(notifications).toContainEqual(['notifications/tools/list_changed', undefined])
  expect(tools).toMatchObject([{ inputSchema: { properties: { category: { enum: ['c', 'fresh'] } } } }, {}, {}])
})
