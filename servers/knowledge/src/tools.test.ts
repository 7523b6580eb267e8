import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { anArticle } from '../test/article.fixture.ts'
import { asdlc } from './asdlc.ts'
import { knowledge } from './definition.ts'
import { createKnowledgeBase } from './knowledge-base.ts'

const client = await testClient(knowledge(asdlc))
const call = (name: string, args: Record<string, unknown> = {}) => client.call(name, args)
const textsOf = ({ content }: Awaited<ReturnType<typeof call>>): readonly string[] =>
  content.map(({ text = '' }) => text)

test('the tools are listed as documented', async () => {
  const { tools } = await client.request('tools/list')
  const $schema = expect.any(String)
  expect(tools).toMatchObject([
    {
      name: 'list_articles',
      description: 'List all ASDLC knowledge base articles (Live and Experimental only)',
    },
    { name: 'get_article', description: 'Get the full content of a specific article by slug' },
    { name: 'search_articles', description: 'Search articles by keyword in title, tags, or description' },
  ])
  expect((tools as { readonly inputSchema: unknown }[]).map(({ inputSchema }) => inputSchema)).toEqual([
    {
      $schema,
      type: 'object',
      properties: {
        category: {
          type: 'string',
          enum: ['concepts', 'patterns', 'practices'],
          description: 'Filter by content category',
        },
        limit: { type: 'number', description: 'Maximum number of articles to return' },
      },
    },
    {
      $schema,
      type: 'object',
      properties: { slug: { type: 'string', description: 'Article slug (filename without extension)' } },
      required: ['slug'],
    },
    {
      $schema,
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Search query' },
        include_content: { type: 'boolean', description: 'Include full markdown content in results', default: false },
      },
      required: ['query'],
    },
  ])
})

test('a list has one line per article, newest first, and the same data as structured content', async () => {
  const result = await call('list_articles', { limit: 2 })
  expect(textsOf(result)).toEqual([
    '- [concepts/context-engineering] Context engineering: Choosing what a model sees before it answers.\n' +
      '- [practices/living-specs] Living specs: Specifications that change with the code, in the same commit.',
  ])
  expect(result['structuredContent']).toMatchObject({
    total: 5,
    articles: [
      {
        collection: 'concepts',
        slug: 'context-engineering',
        uri: 'article://concepts/context-engineering',
        title: 'Context engineering',
        status: 'Live',
        lastUpdated: '2026-03-02',
      },
      { slug: 'living-specs' },
    ],
  })
})

test('a category filters the list; an unknown category is refused with the known ones', async () => {
  expect(textsOf(await call('list_articles', { category: 'patterns' }))[0]).toMatch(
    /^- \[patterns\/adversarial-code-review\][^\n]*$/,
  )
  const wrong = await call('list_articles', { category: 'recipes' })
  expect(wrong['isError']).toBe(true)
  expect(textsOf(wrong)[0]).toMatch(/category.*concepts.*patterns.*practices/)
})

test('fifty articles are listed by default', async () => {
  const many = Array.from({ length: 60 }, (_, i) => ({
    collection: 'c',
    slug: `s${i}`,
    title: 'T',
    description: '',
    tags: [],
    lastUpdated: '2026-01-01',
    status: 'Live' as const,
    body: '',
  }))
  const crowded = await testClient(knowledge(createKnowledgeBase('Many', many)))
  const result = await crowded.call('list_articles')
  expect(textsOf(result)[0]?.split('\n')).toHaveLength(50)
  expect(textsOf(result)[0]).toMatch(/^- \[c\/s0\] T\n/)
  expect(result['structuredContent']).toMatchObject({ total: 60 })
})

test.each([0, -1, 1.5])('a limit of %d is refused with the allowed values', async (limit) => {
  expect(await call('list_articles', { limit })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('whole number, 1 or more') }],
  })
})

test('an empty knowledge base says so', async () => {
  const empty = await testClient(knowledge(createKnowledgeBase('Nothing', [])))
  expect(textsOf(await empty.call('list_articles'))).toEqual(['No articles found.'])
  expect(textsOf(await empty.call('search_articles', { query: 'x' }))).toEqual(["No articles found matching 'x'."])
  expect(await empty.request('resources/list')).toMatchObject({ resources: [] })
})

test('an article is returned whole, under its long title', async () => {
  const result = await call('get_article', { slug: 'agentic-sdlc' })
  expect(textsOf(result)[0]).toMatch(/^# The software life cycle when agents write the code\n\nWhen code is cheap/)
  expect(result['structuredContent']).toMatchObject({ slug: 'agentic-sdlc', content: textsOf(result)[0], others: [] })
})

test('a slug in two collections returns the first article and names the other', async () => {
  const result = await call('get_article', { slug: 'adversarial-code-review' })
  expect(textsOf(result)).toEqual([
    expect.stringContaining('# Adversarial code review'),
    'Cite this article as [patterns/adversarial-code-review]',
    'Other articles with this slug: practices/adversarial-code-review',
  ])
  expect(textsOf(await call('get_article', { slug: 'practices/adversarial-code-review' }))[0]).toMatch(/^# Reviewing/)
})

test('a hidden article and a missing one get the same answer', async () => {
  const draft = anArticle({ slug: 'hush', title: 'Hush', status: 'Draft' })
  const withDraft = await testClient(knowledge(createKnowledgeBase('B', [draft])))
  const without = await testClient(knowledge(createKnowledgeBase('B', [])))
  for (const [name, args] of [
    ['get_article', { slug: 'hush' }],
    ['get_article', { slug: 'c/hush' }],
    ['search_articles', { query: 'hush' }],
    ['list_articles', {}],
  ] as const)
    expect(await withDraft.call(name, args)).toEqual(await without.call(name, args))
  for (const method of ['tools/list', 'resources/list'])
    expect(await withDraft.request(method)).toEqual(await without.request(method))
  expect(textsOf(await withDraft.call('get_article', { slug: 'hush' }))).toEqual([
    "Article 'hush' not found or not available. Find slugs with search_articles or list_articles.",
  ])
})

test('a slug that is nearly right is answered with the right one', async () => {
  expect(await call('get_article', { slug: 'contxt-engineering' })).toMatchObject({
    isError: true,
    content: [
      { text: "Article 'contxt-engineering' not found or not available. Did you mean concepts/context-engineering?" },
    ],
  })
})

test.each(['nope', 'rode', 'review-of-nothing-at-all-here'])(
  'an unrelated slug suggests no article: %s',
  async (slug) => {
    expect(textsOf(await call('get_article', { slug }))).toEqual([
      `Article '${slug}' not found or not available. Find slugs with search_articles or list_articles.`,
    ])
  },
)

test.each([
  ['living', 'practices/living-specs'],
  ['practice/living-spec', 'practices/living-specs'],
  ['Context Engineering', 'concepts/context-engineering'],
])('a slug that shares words or letters with another suggests it: %s', async (slug, expected) => {
  expect(textsOf(await call('get_article', { slug }))[0]).toContain(`Did you mean ${expected}`)
})

test('search returns one line per article with the name that gets and cites it, or the whole articles', async () => {
  const found = await call('search_articles', { query: 'adversarial code reviw' })
  expect(
    textsOf(found)[0]
      ?.split('\n')
      .slice(0, 2)
      .map((line) => line.slice(0, line.indexOf(']') + 1)),
  ).toEqual(['- [patterns/adversarial-code-review]', '- [practices/adversarial-code-review]'])
  const whole = await call('search_articles', { query: 'living specs', include_content: true })
  expect(textsOf(whole)[0]).toMatch(/^\[practices\/living-specs\]\n\n# Living specs\n\nA specification/)
  expect(whole['structuredContent']).toMatchObject({
    articles: textsOf(whole).map((text) => {
      const [citation, ...rest] = text.split('\n\n')
      return { citation, content: rest.join('\n\n') }
    }),
    suggestions: [],
  })
})

test('an empty result is stated plainly, with suggestions', async () => {
  expect(textsOf(await call('search_articles', { query: 'xyzzy' }))).toEqual(["No articles found matching 'xyzzy'."])
  const near = await call('search_articles', { query: 'lyvink spegks' })
  expect(textsOf(near)).toEqual([
    "No articles found matching 'lyvink spegks'. Did you mean practices/living-specs, practices/adversarial-code-review?",
  ])
  expect(near['structuredContent']).toMatchObject({ articles: [], suggestions: [{ slug: 'living-specs' }, {}] })
})

test('a query longer than any question is refused', async () => {
  expect(await call('search_articles', { query: 'x'.repeat(501) })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('at most 500 characters') }],
  })
})

test("references and a recipe's fields are part of the text", async () => {
  const recipe = anArticle({
    ...{ collection: 'recipes', slug: 'r', title: 'R', body: 'Stir.', difficulty: 'easy', tools: ['pan', 'fire'] },
    ...{ estimatedMinutes: 5, agentPrompt: 'Mind the pan.' },
    references: [
      {
        type: 'website' as const,
        title: 'Stirring',
        url: 'https://example.com/',
        accessed: '2026-01-01',
        author: 'A. Cook',
      },
      { type: 'book' as const, title: 'Fire', authors: ['B', 'C'], isbn: '1', annotation: 'Chapter two.' },
    ],
  })
  const cook = await testClient(knowledge(createKnowledgeBase('Food', [recipe])))
  expect(textsOf(await cook.call('get_article', { slug: 'r' }))[0]).toBe(`## Usage Hint

Mind the pan.

## Recipe Metadata

- Difficulty: easy
- Tools: pan, fire
- Estimated minutes: 5

# R

Stir.

## References

1. **Stirring**
   Author: A. Cook
   URL: https://example.com/
   Accessed: 2026-01-01
   Type: website

2. **Fire**
   Authors: B, C
   ISBN: 1
   Type: book
   Chapter two.`)
})

test('Vietnamese is found with and without accents, also when a file system decomposed them', async () => {
  const town = anArticle({ slug: 'ha-noi', title: 'Hà Nội', body: 'Phố cổ, ăn phở và Đường Láng.'.normalize('NFD') })
  const other = anArticle({ slug: 'sai-gon', title: 'Sài Gòn', body: 'Chợ Bến Thành.' })
  const vietnam = await testClient(knowledge(createKnowledgeBase('Vietnam', [town, other])))
  for (const query of ['Ha Noi', 'Hà Nội', 'ha noi', 'pho co', 'duong lang', 'ăn'])
    expect([query, textsOf(await vietnam.call('search_articles', { query }))[0]]).toEqual([
      query,
      expect.stringMatching(/^- \[concepts\/ha-noi\] Hà Nội(?!.*sai-gon)/s),
    ])
})

test('links of Obsidian lead to articles; those to hidden pages and those in code stay text', async () => {
  const pages = [
    anArticle({
      slug: 'start',
      body: 'See [[Meeting Notes]], [[concepts/goals#Year|our goals]], [[Obj|`obj`]], [[Hidden]], ![[Meeting Notes]].![[logo.svg#icon]]\n\n`[[x]]`\n\n```sh\nif [[ -f a ]]; then\n```',
    }),
    anArticle({ collection: 'daily', slug: 'Meeting Notes' }),
    anArticle({ slug: 'goals', aliases: ['OBJ'] }),
    anArticle({ slug: 'hidden', status: 'Draft' }),
  ]
  const vault = await testClient(knowledge(createKnowledgeBase('Vault', pages)))
  expect(textsOf(await vault.call('get_article', { slug: 'start' }))[0]).toBe(
    '# start\n\nSee [Meeting Notes](article://daily/Meeting%20Notes), [our goals](article://concepts/goals), [`obj`](article://concepts/goals), Hidden, [Meeting Notes](article://daily/Meeting%20Notes).\n\n`[[x]]`\n\n```sh\nif [[ -f a ]]; then\n```',
  )
})
