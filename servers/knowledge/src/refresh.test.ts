import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { anArticle } from '../test/article.fixture.ts'
import { createApp } from './app.ts'
import type { Article } from './article.ts'
import { knowledge } from './definition.ts'
import { refresh } from './refresh.ts'

const inCollectionC = (slug: string, given: Partial<Article> = {}): Article =>
  anArticle({ collection: 'c', slug, ...given })

/** A base with the articles `a` and `b`, and a client that hears of everything in it. */
async function notificationsAfter(change: { put?: readonly Article[]; removed?: readonly string[] }) {
  const base = createApp('Test', [inCollectionC('a'), inCollectionC('b'), inCollectionC('draft', { status: 'Draft' })])
  const server = createServer(knowledge(base))
  const client = await testClient(server, { revision: '2025-11-25' })
  for (const slug of ['a', 'b', 'draft', 'new'])
    await client.request('resources/subscribe', { uri: `article://c/${slug}` })
  refresh(base, { put: [], removed: [], ...change }, server)
  const { tools } = await client.request('tools/list')
  return { tools, heard: client.received.map(({ method, params }) => [method, (params as { uri?: string }).uri]) }
}
const lists = ['notifications/resources/list_changed', undefined]
const updated = (slug: string) => ['notifications/resources/updated', `article://c/${slug}`]

test('a changed text is an update of that article, and of no list', async () => {
  const { heard } = await notificationsAfter({ put: [inCollectionC('a', { body: 'other' })] })
  expect(heard).toEqual([updated('a')])
})

test.each([
  ['a new article', { put: [inCollectionC('new')] }, 'new'],
  ['a changed title', { put: [inCollectionC('a', { title: 'Other' })] }, 'a'],
  ['one that became a draft', { put: [inCollectionC('a', { status: 'Draft' as const })] }, 'a'],
  ['one that is published', { put: [inCollectionC('draft')] }, 'draft'],
  ['one that is gone', { removed: ['c/b'] }, 'b'],
])('%s changes the list, too', async (_what, change, slug) => {
  const { heard } = await notificationsAfter(change)
  expect(heard).toEqual([lists, updated(slug)])
})

test('nobody hears of what is hidden and stays so', async () => {
  const change = { put: [inCollectionC('draft', { status: 'Draft', title: 'Secret' })], removed: ['c/other-draft'] }
  expect((await notificationsAfter(change)).heard).toEqual([])
})

test('a new collection is announced with the tools that name it', async () => {
  const { tools, heard } = await notificationsAfter({ put: [inCollectionC('x', { collection: 'fresh' })] })
  expect(heard).toContainEqual(['notifications/tools/list_changed', undefined])
  expect(tools).toMatchObject([{ inputSchema: { properties: { category: { enum: ['c', 'fresh'] } } } }, {}, {}])
})
