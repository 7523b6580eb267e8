/**
 * What the knowledge base's document asks of its protocol handler, with a server that has its three tools: its whole
 * test file in our words. `docs/documents.md` says where Sluice differs.
 *
 * Elsewhere: what the tools find and how they word it belongs to the knowledge server; that it runs on the edge is shown
 * on a real workerd. Nothing of this document is about tokens, overload, approvals or timeouts.
 */

import type { Layer, Runtime, Server } from 'sluice'
import { createServer, defineServer, fail, Prepared, tool } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { jsonSchema } from 'sluice/json-schema'
import { describe, expect, test } from 'vitest'
import { type Answered, aCallOf, aRequest, doorsAfter, openHttp } from './doors.ts'

const info = { name: 'asdlc-knowledge-base', version: '1.0.0' }
const categories = ['concepts', 'patterns', 'practices']
const articles = [
  { slug: 'context-engineering', category: 'concepts', title: 'Context engineering', body: 'What a model sees.' },
  {
    slug: 'adversarial-code-review',
    category: 'patterns',
    title: 'Adversarial code review',
    body: 'A second model looks.',
  },
  { slug: 'living-specs', category: 'practices', title: 'Living specs', body: 'Specs that are kept.' },
]

const schemas = {
  list_articles: {
    type: 'object',
    properties: {
      category: { type: 'string', enum: categories, description: 'Only articles of this kind' },
      limit: { type: 'number', description: 'No more than so many' },
    },
  },
  get_article: {
    type: 'object',
    properties: { slug: { type: 'string', description: 'File name of the article, without extension' } },
    required: ['slug'],
  },
  search_articles: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to look for' },
      include_content: { type: 'boolean', description: 'Whole articles instead of titles', default: false },
    },
    required: ['query'],
  },
}
const titles = (found: readonly { readonly title: string }[]): string => found.map(({ title }) => title).join('\n')

const knowledge = defineServer({
  info,
  tools: [
    tool({
      name: 'list_articles',
      description: 'List the articles that may be read',
      input: jsonSchema<{ category?: string; limit?: number }>(schemas.list_articles),
      run: ({ category, limit = 50 }) =>
        titles(articles.filter((article) => category === undefined || article.category === category).slice(0, limit)),
    }),
    tool({
      name: 'get_article',
      description: 'Read one article',
      input: jsonSchema<{ slug: string }>(schemas.get_article),
      run({ slug }) {
        const found = articles.find((article) => article.slug === slug)
        if (!found) throw fail(`Article '${slug}' not found or not available.`)
        return `# ${found.title}\n\n${found.body}`
      },
    }),
    tool({
      name: 'search_articles',
      description: 'Find articles by a word',
      input: jsonSchema<{ query: string; include_content?: boolean }>(schemas.search_articles),
      run({ query, include_content = false }) {
        if (query === 'broken index') throw new Error('ENOENT: /srv/data/index.json')
        const found = articles.filter(({ title }) => title.toLowerCase().includes(query))
        return include_content ? found.map(({ body }) => body).join('\n') : titles(found)
      },
    }),
  ],
})

/** The document has name and version at the top of the initialize result; here they stand there too. */
const flatInfo: Layer = (next) =>
  async function flatInfo(call) {
    const answer = await next(call)
    return call.method !== 'initialize' || answer instanceof Prepared ? answer : { ...info, ...answer }
  }

const serve =
  (runtime: Runtime = {}) =>
  (): Server =>
    createServer(knowledge, { layers: [flatInfo], ...runtime })

/** The document's entry point is one line over `handle`. */
const handleMethod = async (message: object): Promise<Answered | null> =>
  (await serve()().handle(message)) as Answered | null

const revision = '2024-11-05'
const overEveryDoor = doorsAfter(revision)
/** Before anything else was said. */
const asFirst = doorsAfter(null)

describe('initialize', () => {
  asFirst(
    'a client learns name, version, revision and capabilities, flat and in the standard place',
    serve(),
    async (send) => {
      expect(await send(aRequest('initialize', { clientInfo: { name: 'test-client', version: '1.0.0' } }))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          name: 'asdlc-knowledge-base',
          version: '1.0.0',
          protocolVersion: '2024-11-05',
          capabilities: { tools: { listChanged: true }, logging: {} },
          serverInfo: info,
        },
      })
    },
  )

  test('a client that says nothing about itself is served as 2024-11-05', async () => {
    expect(await handleMethod({ jsonrpc: '2.0', id: 1, method: 'initialize' })).toMatchObject({
      result: { version: '1.0.0', protocolVersion: '2024-11-05', serverInfo: { version: '1.0.0' } },
    })
  })

  test('without the small layer there is only the standard place', async () => {
    const answer = await createServer(knowledge).handle(aRequest('initialize'))
    expect(answer).toMatchObject({ result: { serverInfo: info } })
    expect(answer).not.toHaveProperty('result.name')
    expect(answer).not.toHaveProperty('result.version')
  })
})

describe('notifications', () => {
  overEveryDoor('the end of the handshake is not answered', serve(), async (send) => {
    expect(await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeNull()
  })

  test('no message without an id is answered', async () => {
    for (const method of [
      'notifications/initialized',
      'notifications/cancelled',
      'unknown/method',
      'initialize',
      'tools/list',
    ])
      expect(await handleMethod({ jsonrpc: '2.0', method })).toBeNull()
  })
})

describe('tools/list', () => {
  overEveryDoor('the three tools are listed with their schemas as they were written', serve(), async (send) => {
    const answer = await send(aRequest('tools/list'))
    expect(answer?.result?.['tools']).toEqual(
      Object.entries(schemas).map(([name, inputSchema]) => ({
        name,
        description: expect.stringMatching(/\w/),
        inputSchema,
      })),
    )
  })
})

describe('tools/call', () => {
  overEveryDoor('the tool that is named does the work', serve(), async (send) => {
    const all = await send(aCallOf('list_articles', { limit: 5 }))
    const some = await send(aCallOf('list_articles', { category: 'patterns' }))
    const found = await send(aCallOf('search_articles', { query: 'specs', include_content: true }))
    expect(all).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      result: { isError: false, content: [{ type: 'text', text: titles(articles) }] },
    })
    expect(some?.result).toMatchObject({ content: [{ text: 'Adversarial code review' }] })
    expect(found?.result).toMatchObject({ content: [{ text: 'Specs that are kept.' }] })
  })

  overEveryDoor('arguments may be left out where the tool needs none', serve(), async (send) => {
    expect(await send(aRequest('tools/call', { name: 'list_articles' }))).toMatchObject({ result: { isError: false } })
  })

  overEveryDoor('a call without a tool name is invalid params', serve(), async (send) => {
    expect(await send(aRequest('tools/call', { arguments: {} }))).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  overEveryDoor('an unknown tool is invalid params', serve(), async (send) => {
    expect(await send(aCallOf('nonexistent_tool'))).toMatchObject({
      id: 1,
      error: { code: -32602, message: 'Unknown tool: nonexistent_tool' },
    })
  })

  overEveryDoor('a tool that breaks tells the model so without its text', serve(), async (send) => {
    const answer = await send(aCallOf('search_articles', { query: 'broken index' }))
    expect(answer?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('search_articles') }],
    })
    expect(JSON.stringify(answer)).not.toMatch(/ENOENT|index\.json/)
  })

  overEveryDoor(
    'a tool that breaks is an internal error in the style of plain JSON-RPC',
    serve({ errors: 'json-rpc' }),
    async (send) => {
      expect(await send(aCallOf('search_articles', { query: 'broken index' }))).toMatchObject({
        error: { code: -32603, message: 'Tool execution failed: search_articles' },
      })
    },
  )

  overEveryDoor('an article that is not there is a failure the model reads', serve(), async (send) => {
    expect((await send(aCallOf('get_article', { slug: 'draft' })))?.result).toEqual({
      content: [{ type: 'text', text: "Article 'draft' not found or not available." }],
      isError: true,
    })
  })

  overEveryDoor('arguments outside the schema name the argument and what is allowed', serve(), async (send) => {
    const missing = await send(aCallOf('get_article'))
    const wrong = await send(aCallOf('list_articles', { category: 'recipes' }))
    expect(missing?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('slug') }] })
    expect(wrong?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(categories.join(', ')) }],
    })
  })

  overEveryDoor(
    'arguments outside the schema are invalid params in the style of plain JSON-RPC',
    serve({ errors: 'json-rpc' }),
    async (send) => {
      expect(await send(aCallOf('get_article'))).toMatchObject({ error: { code: -32602, data: { param: 'slug' } } })
    },
  )
})

describe('errors and envelopes', () => {
  overEveryDoor('a method nobody has is not found by its name', serve(), async (send) => {
    expect(await send(aRequest('unknown/method'))).toMatchObject({
      error: { code: -32601, message: 'Method not found: unknown/method' },
    })
  })

  overEveryDoor('every answer says JSON-RPC 2.0 and carries the id of its request', serve(), async (send) => {
    for (const method of ['ping', 'tools/list', 'tools/call', 'unknown/method'])
      for (const id of [1, 'test-id-123'])
        expect(await send(aRequest(method, {}, id))).toMatchObject({ jsonrpc: '2.0', id })
  })
})

test('requests are independent: no answer depends on what was asked before', async () => {
  const used = serve()()
  const message = aCallOf('list_articles', { category: 'concepts' })
  const fresh = await serve()().handle(message)
  for (const before of [
    {},
    aRequest('initialize'),
    aCallOf('nope'),
    aRequest('initialize', { protocolVersion: '2025-06-18' }),
  ])
    await used.handle(before)
  expect(await used.handle(message)).toEqual(fresh)
})

test('the same server answers as a fetch handler, for the edge', async () => {
  const handler = toFetch(serve()())
  const post = (message: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    handler(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(message),
      }),
    )
  const opened = await post(aRequest('initialize'))
  expect(await opened.json()).toMatchObject({ result: { name: 'asdlc-knowledge-base', protocolVersion: '2024-11-05' } })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const done = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)
  expect([done.status, await done.text()]).toEqual([202, ''])
  const listed = await post(aRequest('tools/list'), session)
  expect(await listed.json()).toMatchObject({ result: { tools: Object.keys(schemas).map((name) => ({ name })) } })
  const unknown = await post(aCallOf('nonexistent_tool'), session)
  expect(await unknown.json()).toMatchObject({ error: { code: -32602 } })
  handler.close()
})

test('over HTTP a bad message has a status of its own, and a bad call has not', async () => {
  const { post } = await openHttp(serve()(), revision)
  for (const [body, status, code] of [
    ['{"jsonrpc":', 400, -32700],
    ['{"jsonrpc":"2.0","id":1}', 400, -32600],
    [aRequest('unknown/method'), 200, -32601],
    [aCallOf('nonexistent_tool'), 200, -32602],
  ] as const)
    expect(await post(body)).toMatchObject({ status, answer: { error: { code } } })
})
