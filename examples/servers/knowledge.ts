/** Articles from any source, as an MCP server. */

import assert from 'node:assert/strict'
import { type Article, createKnowledgeBase, knowledge } from '@sluice/knowledge'
import { testClient } from 'sluice/testing'

const articles: readonly Article[] = [
  {
    collection: 'drinks',
    slug: 'tea',
    title: 'Tea',
    description: 'How long, how hot',
    tags: ['hot'],
    lastUpdated: '2026-11-16',
    status: 'Live',
    body: 'Water at 80 °C, three minutes.',
  },
]

const recipes = knowledge(createKnowledgeBase('Recipes', articles))

const client = await testClient(recipes)
assert.match(JSON.stringify(await client.call('get_article', { slug: 'tea' })), /80 °C/)
client.close()
