import { expect, test } from 'vitest'
import { anArticle } from '../test/article.fixture.ts'
import type { Article } from './article.ts'
import { keyOf } from './article.ts'
import { fromIndex } from './index-file.ts'
import { createKnowledgeBase } from './knowledge-base.ts'

const keys = (articles: readonly Article[]): readonly string[] => articles.map(keyOf)

const articles = [
  anArticle({
    slug: 'context-engineering',
    title: 'Context engineering',
    body: 'What a model sees.',
    lastUpdated: '2026-03-01',
  }),
  anArticle({ slug: 'caching', title: 'Caching', tags: ['performance'], body: 'Keep what was dear. Context matters.' }),
  anArticle({
    slug: 'review',
    collection: 'practices',
    title: 'Review',
    description: 'How to read a change',
    lastUpdated: '2026-02-01',
  }),
  anArticle({
    slug: 'review',
    collection: 'patterns',
    title: 'Second reader',
    body: 'Performance of readers.',
    lastUpdated: '2026-01-15',
  }),
  anArticle({ slug: 'secret-plan', title: 'Secret plan', status: 'Draft' }),
  anArticle({ slug: 'old-plan', title: 'Old plan', status: 'Deprecated' }),
  anArticle({ slug: 'proposal', title: 'A proposal', status: 'Proposed' }),
  anArticle({ slug: 'trial', title: 'A trial', status: 'Experimental', lastUpdated: '2025-01-01' }),
]
const base = createKnowledgeBase('Test', articles)

test('articles are sorted newest first, then by name; hidden articles are absent', () => {
  expect(keys(base.articles)).toEqual([
    'concepts/context-engineering',
    'practices/review',
    'patterns/review',
    'concepts/caching',
    'concepts/trial',
  ])
  expect(base.collections).toEqual(['concepts', 'patterns', 'practices'])
  for (const hidden of ['secret-plan', 'concepts/secret-plan', 'old-plan', 'proposal', 'missing'])
    expect(base.findByName(hidden)).toEqual([])
  for (const query of ['secret plan', 'old', 'proposal']) expect(keys(base.search(query))).toEqual([])
  expect(JSON.stringify(base.toIndex())).not.toMatch(/secret|proposal/i)
})

test('a slug shared by two collections resolves to the first collection in the alphabet, whatever the input order', () => {
  for (const order of [articles, articles.toReversed()]) {
    const { findByName } = createKnowledgeBase('Test', order)
    expect(keys(findByName('review'))).toEqual(['patterns/review', 'practices/review'])
    expect(keys(findByName('practices/review'))).toEqual(['practices/review'])
  }
})

test.each([
  ['context engineering', 'concepts/context-engineering'],
  ['contxt engneering', 'concepts/context-engineering'],
  ['Kontext-Enginering?', 'concepts/context-engineering'],
  ['engin', 'concepts/context-engineering'],
  ['how do I read changes', 'practices/review'],
  ['cahcing', 'concepts/caching'],
])('%s is found, also when misspelt', (query, key) => {
  expect(keys(base.search(query))[0]).toBe(key)
})

test('a word weighs more in the title than in the tags, and more in the tags than in the text', () => {
  expect(keys(base.search('context'))).toEqual(['concepts/context-engineering', 'concepts/caching'])
  expect(keys(base.search('performance'))).toEqual(['concepts/caching', 'patterns/review'])
})

test('identifiers are found whole and by their parts, and weigh less in code than in prose', () => {
  const named = createKnowledgeBase('Test', [
    anArticle({ slug: 'a', body: 'Call `createServer` first.' }),
    anArticle({ slug: 'b', body: 'Text.\n\n```ts\ncreateServer(SLUICE_SECRET)\n```\n\nMore text.' }),
  ])
  for (const query of ['createServer', 'createserver', 'create a server'])
    expect(keys(named.search(query))).toEqual(['concepts/a', 'concepts/b'])
  for (const query of ['SLUICE_SECRET', 'secret']) expect(keys(named.search(query))).toEqual(['concepts/b'])
})

test.each(['xyzzy', 'qwertyuiop asdfghjkl', '', ' ', '???', 'the of and', '\u0000', '日本語', '__proto__ constructor'])(
  'nonsense finds nothing and suggests nothing: %j',
  (query) => {
    expect(keys(base.search(query))).toEqual([])
    expect(keys(base.suggest(query))).toEqual([])
  },
)

test('one known word and one guessed word do not answer a question of five words', () => {
  expect(keys(base.search('lorem ipsum dolor caching revixw'))).toEqual([])
  expect(keys(base.search('lorem caching revixw'))).not.toEqual([])
})

test('a near miss is answered with suggestions', () => {
  expect(keys(base.search('kontaxt inginyring'))).toEqual([])
  expect(keys(base.suggest('kontaxt inginyring'))).toEqual(['concepts/context-engineering'])
})

test('articles are added and removed; turning one into a draft removes it', () => {
  const changing = createKnowledgeBase('Test', articles)
  changing.put(anArticle({ slug: 'caching', title: 'Memoisation' }))
  expect(keys(changing.search('memoisation'))).toEqual(['concepts/caching'])
  expect(keys(changing.search('caching'))).toEqual(['concepts/caching'])
  expect(keys(changing.search('performance'))).toEqual(['patterns/review'])
  changing.put(anArticle({ slug: 'caching', title: 'Memoisation', status: 'Draft' }))
  changing.remove('patterns/review')
  changing.remove('patterns/review')
  expect(keys(changing.search('memoisation'))).toEqual([])
  expect(keys(changing.findByName('review'))).toEqual(['practices/review'])
  expect(changing.collections).toEqual(['concepts', 'practices'])
})

test('a knowledge base loaded from an index file answers like the one it was made from', () => {
  const again = fromIndex(JSON.parse(JSON.stringify(base.toIndex())))
  expect(again.title).toBe('Test')
  expect(keys(again.articles)).toEqual(keys(base.articles))
  for (const query of ['contxt', 'performance', 'xyzzy', 'how do I read changes'])
    expect(keys(again.search(query))).toEqual(keys(base.search(query)))
  again.put(anArticle({ slug: 'later', title: 'Added later', body: 'Performance.' }))
  again.remove('concepts/caching')
  expect(keys(again.search('added'))).toEqual(['concepts/later'])
  expect(keys(again.search('performance')).toSorted()).toEqual(['concepts/later', 'patterns/review'])
  const twice = fromIndex(JSON.parse(JSON.stringify(again.toIndex())))
  expect(keys(twice.search('performance')).toSorted()).toEqual(['concepts/later', 'patterns/review'])
})

const index = JSON.parse(JSON.stringify(base.toIndex()))
test.each([
  ['nothing', undefined],
  ['another file', { name: 'x' }],
  ['another version', { ...index, format: 'sluice-knowledge/0' }],
  ['no articles', { ...index, articles: undefined }],
  ['fewer articles', { ...index, articles: index.articles.slice(1) }],
  ['no words', { ...index, search: { ...index.search, words: undefined } }],
  ['no search', { ...index, search: null }],
])('an incomplete index is refused: %s', (_what, broken) => {
  expect(() => fromIndex(broken)).toThrow(/sluice-knowledge build/)
})
