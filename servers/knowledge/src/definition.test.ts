import { createServer } from 'sluice'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import pkg from '../package.json' with { type: 'json' }
import { asdlc } from './asdlc.ts'
import { knowledge } from './definition.ts'
import { createKnowledgeBase } from './knowledge-base.ts'
import { version } from './version.ts'

const client = await testClient(knowledge(asdlc))

test('the version equals the one in package.json', () => {
  expect(version).toBe(pkg.version)
})

test('the server is named after the title of its articles', () => {
  expect(knowledge(createKnowledgeBase('My Café notes!', []))).toMatchObject({ name: 'my-caf-notes-knowledge-base' })
  expect(knowledge(createKnowledgeBase('', []))).toMatchObject({ name: 'knowledge-base' })
})

test('an article can be read at its URI; an unknown URI is refused', async () => {
  expect(await client.request('resources/read', { uri: 'article://practices/living-specs' })).toMatchObject({
    contents: [{ mimeType: 'text/markdown', text: expect.stringMatching(/^# Living specs\n/) }],
  })
  for (const uri of ['article://concepts/living-specs', 'article://x/y', 'article://practices/..%2fliving-specs'])
    expect(await client.send('resources/read', { uri })).toMatchObject({ error: { message: 'Resource not found' } })
})

test('all articles are listed newest first, over as many pages as needed', async () => {
  const many = Array.from({ length: 450 }, (_, i) => ({
    ...{ collection: 'c d', slug: `s${i}`, title: `T${i}`, description: '', tags: [], body: '' },
    ...{ lastUpdated: `2026-01-${String((i % 28) + 1).padStart(2, '0')}`, status: 'Live' as const },
  }))
  const base = createKnowledgeBase('Many', many)
  const crowded = await testClient(createServer(knowledge(base), { pageSize: 200 }))
  const seen: string[] = []
  let cursor: unknown
  let pages = 0
  do {
    const page = await crowded.request('resources/list', cursor === undefined ? {} : { cursor })
    seen.push(...(page['resources'] as { uri: string }[]).map(({ uri }) => uri))
    cursor = page['nextCursor']
    // The last article of the page is removed: the next page continues behind its position.
    if (++pages === 1) base.remove(decodeURIComponent(seen.at(-1)?.slice('article://'.length) ?? ''))
  } while (cursor !== undefined)
  expect(pages).toBe(3)
  expect(new Set(seen).size).toBe(450)
  expect(seen.slice(0, 2)).toEqual(['article://c%20d/s111', 'article://c%20d/s139'])
  expect(await crowded.request('resources/list')).toMatchObject({
    resources: expect.arrayContaining([
      expect.objectContaining({ annotations: { lastModified: '2026-01-28T00:00:00.000Z' } }),
    ]),
  })
  expect(await crowded.request('resources/read', { uri: seen[0] })).toMatchObject({
    contents: [{ text: '# T111\n\n' }],
  })
})

test('collections and slugs are completed while the user types', async () => {
  const ref = { type: 'ref/resource', uri: 'article://{collection}/{slug}' }
  const complete = async (name: string, value: string, chosen = {}) =>
    (await client.request('completion/complete', { ref, argument: { name, value }, context: { arguments: chosen } }))[
      'completion'
    ]
  expect(await complete('collection', 'p')).toMatchObject({ values: ['patterns', 'practices'] })
  expect(await complete('slug', 'a')).toMatchObject({ values: ['agentic-sdlc', 'adversarial-code-review'] })
  expect(await complete('slug', 'a', { collection: 'practices' })).toMatchObject({
    values: ['adversarial-code-review'],
  })
})

test('the prompt includes the articles that answer the question, each under its name', async () => {
  const { messages } = await client.request('prompts/get', {
    name: 'answer_with_citations',
    arguments: { question: 'Who quotes the living specs?' },
  })
  expect((messages as unknown[]).slice(0, 2)).toMatchObject([
    {
      role: 'user',
      content: { type: 'text', text: expect.stringMatching(/^Who quotes the living specs\?\n\nAnswer from/) },
    },
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: {
          uri: 'article://practices/living-specs',
          text: expect.stringMatching(/^\[practices\/living-specs\]\n\n# Living/),
        },
      },
    },
  ])
})

test('the prompt says so if no article matches', async () => {
  const { messages } = await client.request('prompts/get', {
    name: 'answer_with_citations',
    arguments: { question: 'Xyzzy?' },
  })
  expect(messages).toMatchObject([{ content: { text: expect.stringContaining('has no article on this') } }])
})
