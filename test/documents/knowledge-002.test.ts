/**
 * The knowledge base's document on its protocol handler, checked on the knowledge server itself: its whole test file in
 * our words. `docs/documents.md` says where Sluice differs.
 *
 * Tested elsewhere: what the tools find and their texts in `servers/knowledge`; the edge on real runtimes in
 * `test/runtimes`. This document says nothing about tokens, overload, approvals or timeouts.
 */

import type { Server, ServerOptions } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { createServer } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { assertJsonRpcError, assertJsonRpcSuccess } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { asdlc } from '../../servers/knowledge/src/asdlc.ts'
import { flatInfo, handleMethod, knowledge } from '../../servers/knowledge/src/index.ts'
import type { KnowledgeBase } from '../../servers/knowledge/src/knowledge-base.ts'
import { version } from '../../servers/knowledge/src/version.ts'
import { aCallOf, aRequest, openHttp, transportsAfter } from '../kit/clients/scenario.client.ts'

const name = 'asdlc-knowledge-base'
const categories = ['concepts', 'patterns', 'practices']

/** The definitions of the document. */
const tools = [
  {
    name: 'list_articles',
    description: 'List all ASDLC knowledge base articles (Live and Experimental only)',
    inputSchema: {
      type: 'object',
      properties: {
        category: { type: 'string', enum: categories, description: 'Filter by content category' },
        limit: { type: 'number', description: 'Maximum number of articles to return' },
      },
    },
  },
  {
    name: 'get_article',
    description: 'Get the full content of a specific article by slug',
    inputSchema: {
      type: 'object',
      properties: { slug: { type: 'string', description: 'Article slug (filename without extension)' } },
      required: ['slug'],
    },
  },
  {
    name: 'search_articles',
    description: 'Search articles by keyword in title, tags, or description',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Search query' },
        include_content: { type: 'boolean', description: 'Include full markdown content in results', default: false },
      },
      required: ['query'],
    },
  },
]

const brittle: KnowledgeBase = {
  ...asdlc,
  search(query) {
    if (query === 'broken index') throw new Error('ENOENT: /srv/data/index.json')
    return asdlc.search(query)
  },
}
const definition = knowledge(brittle)

const serve =
  (runtime: ServerOptions = {}) =>
  (): Server =>
    createServer(definition, { ...runtime, use: [customLayer(flatInfo(definition)), ...(runtime.use ?? [])] })

const revision = '2024-11-05'
const overEveryTransport = transportsAfter(revision)
/** Before any other message. */
const asFirst = transportsAfter(null)

describe('initialize', () => {
  asFirst(
    'a client learns name, version, revision and capabilities, flat and in the standard place',
    serve(),
    async (send) => {
      expect(await send(aRequest('initialize', { clientInfo: { name: 'test-client', version: '1.0.0' } }))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          name,
          version,
          protocolVersion: '2024-11-05',
          capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            prompts: { listChanged: true },
            logging: {},
          },
          serverInfo: { name, version },
          instructions: expect.stringContaining('ASDLC'),
        },
      })
    },
  )

  test('a client without a revision is served as 2024-11-05', async () => {
    const answer = await handleMethod({ jsonrpc: '2.0', id: 1, method: 'initialize' })
    assertJsonRpcSuccess(answer)
    expect(answer.result).toMatchObject({ name, version, protocolVersion: '2024-11-05', serverInfo: { name, version } })
    expect(answer.result.capabilities).toHaveProperty('tools')
  })

  test('without the small layer the info is only in the standard field', async () => {
    const answer = await createServer(definition).handle(aRequest('initialize'))
    expect(answer).toMatchObject({ result: { serverInfo: { name, version } } })
    expect(answer).not.toHaveProperty('result.name')
    expect(answer).not.toHaveProperty('result.version')
  })
})

describe('notifications', () => {
  overEveryTransport('the end of the handshake is not answered', serve(), async (send) => {
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
  overEveryTransport('the three tools are listed as in the document', serve(), async (send) => {
    const answer = await send(aRequest('tools/list'))
    expect(answer?.result?.['tools']).toMatchObject(tools)
  })

  test("a client of the document's revision gets no more than that", async () => {
    const { post } = await openHttp(serve()(), revision)
    expect((await post(aRequest('tools/list'))).answer?.result).toEqual({ tools })
  })

  test("through the document's entry point there are three", async () => {
    const answer = await handleMethod({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    assertJsonRpcSuccess(answer)
    expect(answer.result.tools).toHaveLength(3)
  })
})

describe('tools/call', () => {
  overEveryTransport('the named tool runs', serve(), async (send) => {
    const all = await send(aCallOf('list_articles', { limit: 5 }))
    const some = await send(aCallOf('list_articles', { category: 'patterns' }))
    const found = await send(aCallOf('search_articles', { query: 'living specs', include_content: true }))
    expect(all).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      result: { isError: false, content: [{ type: 'text', text: expect.stringMatching(/^(?:- \[.*\n?){5}$/) }] },
    })
    expect(some?.result).toMatchObject({
      content: [
        { text: expect.stringMatching(/^- \[patterns\/adversarial-code-review\] Adversarial code review: [^\n]*$/) },
      ],
    })
    expect(found?.result).toMatchObject({ content: [{ text: expect.stringContaining('# Living specs') }, {}] })
  })

  overEveryTransport('arguments may be omitted if the tool needs none', serve(), async (send) => {
    expect(await send(aRequest('tools/call', { name: 'list_articles' }))).toMatchObject({ result: { isError: false } })
  })

  overEveryTransport('a call without a tool name is invalid params', serve(), async (send) => {
    expect(await send(aRequest('tools/call', { arguments: {} }))).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  overEveryTransport('an unknown tool is invalid params', serve(), async (send) => {
    expect(await send(aCallOf('nonexistent_tool'))).toMatchObject({
      id: 1,
      error: { code: -32602, message: 'Unknown tool: nonexistent_tool' },
    })
  })

  overEveryTransport('a tool that throws is reported to the model without its text', serve(), async (send) => {
    const answer = await send(aCallOf('search_articles', { query: 'broken index' }))
    expect(answer?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('search_articles') }],
    })
    expect(JSON.stringify(answer)).not.toMatch(/ENOENT|index\.json/)
  })

  overEveryTransport(
    'a tool that throws is an internal error in the style of plain JSON-RPC',
    serve({ errors: 'json-rpc' }),
    async (send) => {
      expect(await send(aCallOf('search_articles', { query: 'broken index' }))).toMatchObject({
        error: { code: -32603, message: 'Tool execution failed: search_articles' },
      })
    },
  )

  overEveryTransport('a missing article is a failure that the model reads', serve(), async (send) => {
    const text = "Article 'draft' not found or not available. Find slugs with search_articles or list_articles."
    expect((await send(aCallOf('get_article', { slug: 'draft' })))?.result).toEqual({
      content: [{ type: 'text', text }],
      isError: true,
    })
  })

  overEveryTransport('arguments outside the schema name the argument and what is allowed', serve(), async (send) => {
    const missing = await send(aCallOf('get_article'))
    const wrong = await send(aCallOf('list_articles', { category: 'recipes' }))
    expect(missing?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('slug') }] })
    expect(wrong?.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(categories.join(', ')) }],
    })
  })

  overEveryTransport(
    'arguments outside the schema are invalid params in the style of plain JSON-RPC',
    serve({ errors: 'json-rpc' }),
    async (send) => {
      expect(await send(aCallOf('get_article'))).toMatchObject({ error: { code: -32602, data: { param: 'slug' } } })
    },
  )
})

describe('errors and envelopes', () => {
  overEveryTransport('an unknown method is not found, by its name', serve(), async (send) => {
    expect(await send(aRequest('unknown/method'))).toMatchObject({
      error: { code: -32601, message: 'Method not found: unknown/method' },
    })
  })

  overEveryTransport('every answer says JSON-RPC 2.0 and carries the id of its request', serve(), async (send) => {
    for (const method of ['ping', 'tools/list', 'tools/call', 'unknown/method'])
      for (const id of [1, 'test-id-123'])
        expect(await send(aRequest(method, {}, id))).toMatchObject({ jsonrpc: '2.0', id })
  })
})

test("the document's entry point refuses as the document says", async () => {
  for (const [method, params, code] of [
    ['tools/call', { arguments: {} }, -32602],
    ['tools/call', { name: 'nonexistent_tool', arguments: {} }, -32602],
    ['unknown/method', {}, -32601],
  ] as const) {
    const answer = await handleMethod({ jsonrpc: '2.0', id: 'test-id-123', method, params })
    assertJsonRpcError(answer)
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 'test-id-123', error: { code } })
  }
})

test('requests are independent: no answer depends on an earlier request', async () => {
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
  expect(await opened.json()).toMatchObject({ result: { name, protocolVersion: '2024-11-05' } })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const done = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)
  expect([done.status, await done.text()]).toEqual([202, ''])
  const listed = await post(aRequest('tools/list'), session)
  expect(await listed.json()).toMatchObject({ result: { tools } })
  const unknown = await post(aCallOf('nonexistent_tool'), session)
  expect(await unknown.json()).toMatchObject({ error: { code: -32602 } })
  await handler.close()
})

test('over HTTP a bad message has its own status, and a bad call has not', async () => {
  const { post } = await openHttp(serve()(), revision)
  for (const [body, status, code] of [
    ['{"jsonrpc":', 400, -32700],
    ['{"jsonrpc":"2.0","id":1}', 400, -32600],
    [aRequest('unknown/method'), 200, -32601],
    [aCallOf('nonexistent_tool'), 200, -32602],
  ] as const)
    expect(await post(body)).toMatchObject({ status, answer: { error: { code } } })
})
