/** The structured content of every tool says at least what its text says. */

import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { missingFacts } from '../../../test/kit/clients/structured-facts.ts'
import { asdlc } from './asdlc.ts'
import { knowledge } from './definition.ts'

test('no tool says more in its text than in its structured content', async () => {
  const client = await testClient(knowledge(asdlc))
  const words = asdlc.articles.flatMap(({ title, description, slug, collection }) => [
    ...[title, description, slug, `${collection}/${slug}`].filter((text) => text !== ''),
  ])
  const called = new Set<string>()
  for (const [name, args] of [
    ['list_articles', {}],
    ['get_article', { slug: 'adversarial-code-review' }],
    ['search_articles', { query: 'code review' }],
    ['search_articles', { query: 'living specs', include_content: true }],
    ['search_articles', { query: 'lyvink spegks' }],
  ] as const) {
    called.add(name)
    const result = (await client.call(name, args)) as unknown as Parameters<typeof missingFacts>[0]
    const missing = missingFacts(result, words)
    // `collection/slug` is two fields.
    expect([name, missing.filter((said) => !words.includes(said) || !said.includes('/'))]).toEqual([name, []])
  }
  const { tools } = await client.request('tools/list')
  expect((tools as readonly { name: string }[]).map(({ name }) => name).sort()).toEqual([...called].sort())
})
