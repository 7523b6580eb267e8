/**
 * The memory server's document on its request handler: seventeen scenarios, seven edge cases, its error texts.
 * `docs/documents.md` lists row by row where Sluice does the same and where it differs.
 *
 * Tested elsewhere: `npm run bench` prints the time figures (under 5 ms overhead, 10 ms for a list); deadlines, limits
 * and authentication are tested with their layers.
 */

import type { Server, ServerDefinition, ServerOptions } from 'sluice'
import { defineServer, fail, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aCallOf, aRequest, openHttp, overEveryTransport, overStdio } from '../kit/clients/scenario.client.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

/** The inputs of the tools, in order. */
type Ran = unknown[]

const memory = (ran: Ran = []): ServerDefinition => {
  const memories: string[] = []
  return defineServer({
    name: 'zapomni-memory',
    version: '1.0.0',
    tools: [
      tool({
        name: 'add_memory',
        description: 'Keep a text',
        input: z.object({ text: z.string().min(1) }),
        run(input) {
          ran.push(input)
          memories.push(input.text)
          return `Memory stored successfully.\nID: ${memories.length}\nChunks created: 1`
        },
      }),
      tool({
        name: 'search_memory',
        description: 'Find texts that were kept',
        input: z.object({ query: z.string().min(1) }),
        run({ query }) {
          const found = memories.filter((text) => text.includes(query))
          return found.length > 0
            ? `Found ${found.length} results:\n${found.join('\n')}`
            : 'No results found matching your query.'
        },
      }),
      tool({
        name: 'get_stats',
        description: 'Count the texts that were kept',
        run: () => ({ total_memories: memories.length }),
      }),
      tool({
        name: 'buggy_tool',
        description: 'Breaks',
        run() {
          throw new RangeError('Internal bug in /srv/memory/db.ts, password hunter2')
        },
      }),
      tool({
        name: 'full_tool',
        description: 'Says what is wrong',
        run() {
          throw fail('The disk is full; delete a memory first')
        },
      }),
    ],
  })
}

const names = ['add_memory', 'search_memory', 'get_stats', 'buggy_tool', 'full_tool']

const serve =
  (runtime: ServerOptions = {}, ran?: Ran) =>
  (): Server =>
    createServer(memory(ran), runtime)
const inMcp = serve()
const inJsonRpc = serve({ errors: 'json-rpc' })

const textOf = (text: string) => [{ type: 'text', text }]

describe('a successful call', () => {
  overEveryTransport('a tool runs and its text comes back as a result without an error', inMcp, async (send) => {
    expect(await send(aCallOf('add_memory', { text: 'Python is great' }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: textOf('Memory stored successfully.\nID: 1\nChunks created: 1'), isError: false },
    })
  })

  overEveryTransport('the list has the name, description and schema of every tool', inMcp, async (send) => {
    const answer = await send(aRequest('tools/list', {}, 2))
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 2, result: { tools: names.map((name) => ({ name })) } })
    expect(answer?.result?.['tools']).toContainEqual({
      name: 'add_memory',
      description: 'Keep a text',
      inputSchema: expect.objectContaining({
        type: 'object',
        properties: { text: { type: 'string', minLength: 1 } },
        required: ['text'],
      }),
    })
  })

  overEveryTransport('the list needs no params', inMcp, async (send) => {
    expect(await send(aRequest('tools/list'))).toMatchObject({ result: { tools: names.map((name) => ({ name })) } })
  })

  overEveryTransport('calls one after the other each reach the tool they name', inMcp, async (send) => {
    await send(aCallOf('add_memory', { text: 'Lisp has macros' }))
    const found = await send(aCallOf('search_memory', { query: 'macros' }))
    const counted = await send(aCallOf('get_stats'))
    expect(found?.result).toMatchObject({ content: textOf('Found 1 results:\nLisp has macros'), isError: false })
    expect(counted?.result).toMatchObject({ structuredContent: { total_memories: 1 }, isError: false })
  })

  overEveryTransport('finding nothing is a result, not an error', inMcp, async (send) => {
    const found = await send(aCallOf('search_memory', { query: 'nothing' }))
    expect(found?.result).toEqual({ content: textOf('No results found matching your query.'), isError: false })
  })

  overEveryTransport('an answer carries the id of its request, number or string', inMcp, async (send) => {
    for (const id of [1, 0, -7, Number.MAX_SAFE_INTEGER, 'req-123', '1', ''])
      expect((await send(aCallOf('get_stats', {}, id)))?.id).toBe(id)
  })

  test('the tool gets the arguments as they were sent, once', async () => {
    const ran: Ran = []
    await serve({}, ran)().handle(aCallOf('add_memory', { text: '  Zażółć\n' }))
    expect(ran).toEqual([{ text: '  Zażółć\n' }])
  })

  test('a server answers without a handshake and without being started', async () => {
    expect(await inMcp().handle(aCallOf('get_stats'))).toHaveProperty('result')
  })
})

describe('a refused call', () => {
  overEveryTransport('an empty object is refused for its missing method, without an id', inMcp, async (send) => {
    const answer = await send({})
    expect(answer).toMatchObject({ error: { code: -32600, message: 'Invalid request: missing method field' } })
    expect(answer).not.toHaveProperty('id')
  })

  overEveryTransport('a method that is absent, empty or no text is a missing method', inMcp, async (send) => {
    for (const method of [undefined, null, '', 5, ['tools/list']])
      expect(await send({ jsonrpc: '2.0', id: 4, method })).toMatchObject({
        id: 4,
        error: { code: -32600, message: 'Invalid request: missing method field' },
      })
  })

  test('the missing method is reported before any other error', async () => {
    expect(await inMcp().handle({ jsonrpc: '1.0', id: null, params: 7 })).toMatchObject({
      error: { code: -32600, message: 'Invalid request: missing method field' },
    })
  })

  overEveryTransport('an unknown method is not found, and the answer names it', inMcp, async (send) => {
    for (const method of ['foo/bar', 'unknown/action', 'Tools/Call', 'tools/list ', 'toString', '__proto__'])
      expect(await send(aRequest(method, {}))).toMatchObject({
        id: 1,
        error: { code: -32601, message: `Method not found: ${method}` },
      })
  })

  for (const make of [inMcp, inJsonRpc])
    overEveryTransport(`a call without a tool name is refused as such ${styleOf(make)}`, make, async (send) => {
      for (const params of [{ arguments: { text: 'test' } }, {}, { name: null, arguments: {} }, undefined])
        expect(await send(aRequest('tools/call', params))).toMatchObject({
          id: 1,
          error: { code: -32602, message: 'Invalid params: missing tool name' },
        })
    })

  overEveryTransport('params that are not an object are refused, whatever the method', inMcp, async (send) => {
    for (const method of ['tools/call', 'tools/list'])
      for (const params of [null, [], 'add_memory', 3])
        expect(await send(aRequest(method, params))).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  overEveryTransport('missing arguments count as empty', inMcp, async (send) => {
    expect(await send(aRequest('tools/call', { name: 'get_stats' }))).toMatchObject({
      result: { structuredContent: { total_memories: 0 }, isError: false },
    })
  })

  overEveryTransport('missing arguments are refused in the style of plain JSON-RPC', inJsonRpc, async (send) => {
    for (const name of ['get_stats', 'fake_tool'])
      expect(await send(aRequest('tools/call', { name }))).toMatchObject({
        error: { code: -32602, message: 'Invalid params: missing arguments' },
      })
  })

  overEveryTransport('an unknown tool is invalid params, with the list of tools', inMcp, async (send) => {
    expect(await send(aCallOf('fake_tool'))).toMatchObject({
      id: 1,
      error: { code: -32602, message: 'Unknown tool: fake_tool', data: { available_tools: names } },
    })
  })

  overEveryTransport(
    'an unknown tool is not found in the style of plain JSON-RPC, with the list of tools',
    inJsonRpc,
    async (send) => {
      expect(await send(aCallOf('fake_tool'))).toMatchObject({
        id: 1,
        error: { code: -32601, message: 'Tool not found: fake_tool', data: { available_tools: names } },
      })
    },
  )

  test('a tool is found by its exact name only', async () => {
    for (const name of ['toString', '__proto__', 'constructor', 'ADD_MEMORY', ' add_memory', ''])
      expect(await inJsonRpc().handle(aCallOf(name))).toMatchObject({
        error: { code: -32601, message: `Tool not found: ${name}` },
      })
  })

  overEveryTransport(
    'arguments that fail the schema come back as a result that the model can fix',
    inMcp,
    async (send) => {
      const answer = await send(aCallOf('add_memory', { text: '' }))
      expect(answer?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('text') }] })
      expect(answer).not.toHaveProperty('error')
    },
  )

  overEveryTransport(
    'arguments that fail the schema are invalid params in the style of plain JSON-RPC',
    inJsonRpc,
    async (send) => {
      expect(await send(aCallOf('add_memory', { text: '' }))).toMatchObject({
        error: { code: -32602, data: { param: 'text' } },
      })
    },
  )

  test('nothing runs for a refused call', async () => {
    const ran: Ran = []
    for (const errors of ['mcp', 'json-rpc'] as const) {
      const server = serve({ errors }, ran)()
      await server.handle(aCallOf('add_memory', { text: '' }))
      await server.handle(aCallOf('add_memory', { txt: 'misspelt' }))
      await server.handle(aRequest('tools/call', { name: 'add_memory' }))
      await server.handle({ ...aCallOf('add_memory', { text: 'a' }), jsonrpc: '1.0' })
      await server.handle(aCallOf('add_memory', { text: 'a' }, null))
    }
    expect(ran).toEqual([])
  })
})

test('plain JSON-RPC is for clients before 2026-07-28: later ones may omit arguments', async () => {
  const server = serve({ errors: 'json-rpc' })()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  expect(await server.handle(aRequest('tools/call', { name: 'buggy_tool', _meta }))).toMatchObject({
    result: { isError: true },
  })
})

describe('a tool that throws', () => {
  overEveryTransport('the model reads that it failed and a reference, not the cause', inMcp, async (send) => {
    const answer = await send(aCallOf('buggy_tool'))
    expect(answer?.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^Tool execution failed: buggy_tool\. Reference: \S+$/) }],
    })
    expect(JSON.stringify(answer)).not.toMatch(/bug in|hunter2|RangeError|\.ts/)
  })

  overEveryTransport(
    'it is an internal error that names the tool in the style of plain JSON-RPC',
    inJsonRpc,
    async (send) => {
      const answer = await send(aCallOf('buggy_tool'))
      expect(answer?.error).toEqual({
        code: -32603,
        message: 'Tool execution failed: buggy_tool',
        data: { reason: 'toolCrashed', reference: expect.any(String) },
      })
      expect(JSON.stringify(answer)).not.toMatch(/bug in|hunter2|RangeError|\.ts/)
    },
  )

  for (const make of [inMcp, inJsonRpc])
    overEveryTransport(`a tool's own failure text reaches the model ${styleOf(make)}`, make, async (send) => {
      expect((await send(aCallOf('full_tool')))?.result).toEqual({
        content: textOf('The disk is full; delete a memory first'),
        isError: true,
      })
    })

  test('a tool may throw something other than an error, and its caller is still answered', async () => {
    for (const thrown of ['a string', null, undefined, { code: 1 }]) {
      const run = (): never => {
        throw thrown
      }
      const broken = tool({ name: 'broken', description: 'Throws what is no error', run })
      const server = createServer({ name: 'm', version: '1', tools: [broken] }, { errors: 'json-rpc' })
      expect(await server.handle(aCallOf('broken'))).toMatchObject({
        error: { code: -32603, message: 'Tool execution failed: broken' },
      })
    }
  })

  overEveryTransport('the server continues after every kind of failure', inJsonRpc, async (send) => {
    for (const message of [{}, aRequest('foo/bar'), aCallOf('fake_tool'), aCallOf('buggy_tool'), aCallOf('add_memory')])
      expect(await send(message)).toHaveProperty('error')
    expect(await send(aCallOf('add_memory', { text: 'still here' }))).toMatchObject({ result: { isError: false } })
  })
})

describe('edge cases', () => {
  const empty = (): Server => createServer({ name: 'empty', version: '1.0.0' })

  overEveryTransport('a server without tools returns an empty list, not an error', empty, async (send) => {
    expect(await send(aRequest('tools/list'))).toEqual({ jsonrpc: '2.0', id: 1, result: { tools: [] } })
  })

  overEveryTransport('a server without tools knows no tool', empty, async (send) => {
    expect(await send(aCallOf('add_memory'))).toMatchObject({ error: { code: -32602, data: { available_tools: [] } } })
  })

  test('a call without an id does nothing and is not answered', async () => {
    const ran: Ran = []
    const { id: _, ...message } = aCallOf('add_memory', { text: 'test' })
    expect(await serve({}, ran)().handle(message)).toBeNull()
    expect(await overStdio(serve({}, ran)(), [message])).toEqual([])
    expect(ran).toEqual([])
  })

  test('over HTTP a call without an id does nothing either, and the sender is told', async () => {
    const ran: Ran = []
    const { id: _, ...message } = aCallOf('add_memory', { text: 'test' })
    const { post } = await openHttp(serve({}, ran)())
    const { status, answer } = await post(message)
    expect({ status, code: answer?.error?.code, ran }).toEqual({ status: 400, code: -32600, ran: [] })
    expect(answer).not.toHaveProperty('id')
  })

  test('handle answers any value and never throws', async () => {
    for (const message of [undefined, null, true, 12, 'tools/list', [], [[]], () => 1, new Date(0)])
      expect(await inMcp().handle(message)).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  overEveryTransport('a batch is refused: only 2025-03-26 had batches', inMcp, async (send) => {
    expect(await send([aRequest('tools/list'), aCallOf('get_stats')])).toMatchObject({ error: { code: -32600 } })
  })

  test('a batch is answered with a batch on 2025-03-26, which demands it', async () => {
    const batch = JSON.stringify([aRequest('ping', {}, 1), aCallOf('get_stats', {}, 2)])
    expect(await overStdio(inMcp(), [batch], '2025-03-26')).toMatchObject([[{ id: 1 }, { id: 2, result: {} }]])
  })

  test('calls run concurrently, and each answer has the id of its call', async () => {
    const order: string[] = []
    const held = Promise.withResolvers<void>()
    const slow = tool({
      name: 'slow',
      description: 'Waits',
      run: () => held.promise.then(() => `${order.push('slow')}`),
    })
    const fast = tool({ name: 'fast', description: 'Does not wait', run: () => `${order.push('fast')}` })
    const server = createServer({ name: 'm', version: '1', tools: [slow, fast] }, { clock: fakeClock() })
    const first = server.handle(aCallOf('slow', {}, 'first'))
    expect(await server.handle(aCallOf('fast', {}, 'second'))).toMatchObject({ id: 'second' })
    held.resolve()
    expect(await first).toMatchObject({ id: 'first', result: { isError: false } })
    expect(order).toEqual(['fast', 'slow'])
  })
})

describe('the log', () => {
  test('a request leaves one line with its id, method, tool, outcome and duration', async () => {
    const { logger, lines } = recordingLogger()
    const clock = fakeClock()
    const slow = tool({ name: 'slow', description: 'Takes a while', run: () => clock.advance(40).then(() => 'done') })
    const server = createServer({ name: 'm', version: '1', tools: [slow] }, { clock, use: [log(logger)] })
    await server.handle(aCallOf('slow', {}, 'req-123'))
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'tool_execution_success',
        id: 'req-123',
        method: 'tools/call',
        tool: 'slow',
        outcome: 'complete',
        durationMs: 40,
      }),
    ])
  })

  test('every entry point logs its requests', async () => {
    const { logger, lines } = recordingLogger()
    await serve({ use: [log(logger)] })().handle(aRequest('tools/list', {}, 'by handle'))
    await overStdio(serve({ use: [log(logger)] })(), [aRequest('tools/list', {}, 'by stdio')])
    await (await openHttp(serve({ use: [log(logger)] })())).post(aRequest('tools/list', {}, 'by http'))
    for (const [id, transport] of [
      ['by handle', 'memory'],
      ['by stdio', 'stdio'],
      ['by http', 'http'],
    ])
      expect(lines).toContainEqual(
        expect.objectContaining({
          id,
          transport,
          method: 'tools/list',
          outcome: 'complete',
          durationMs: expect.any(Number),
        }),
      )
  })

  for (const errors of ['mcp', 'json-rpc'] as const)
    test(`a tool that throws is logged as an error with type, text and stack under the client's reference (${errors})`, async () => {
      const { logger, lines } = recordingLogger()
      const answer = JSON.stringify(await serve({ errors, use: [log(logger)] })().handle(aCallOf('buggy_tool', {}, 5)))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatchObject({
        level: 'error',
        id: 5,
        tool: 'buggy_tool',
        outcome: 'toolCrashed',
        errorType: 'RangeError',
        errorMessage: expect.stringContaining('Internal bug'),
        stack: expect.stringContaining('RangeError'),
      })
      expect(answer).toContain(lines[0]?.['reference'])
    })

  test('a refusal leaves a warning with its reason, and with id and method if they could be read', async () => {
    const { logger, lines } = recordingLogger()
    const server = serve({ use: [log(logger)] })()
    for (const message of [aCallOf('fake_tool'), aRequest('foo/bar'), aRequest('tools/call', {}), { id: 4 }, {}])
      await server.handle(message)
    expect(lines.map(({ level, id, method, outcome, reason }) => [level, id, method, outcome ?? reason])).toEqual([
      ['warn', 1, 'tools/call', 'unknownTool'],
      ['warn', 1, 'foo/bar', 'methodNotFound'],
      ['warn', 1, 'tools/call', 'invalidParams'],
      ['warn', 4, undefined, 'invalidRequest'],
      ['warn', undefined, undefined, 'invalidRequest'],
    ])
  })
})

function styleOf(make: () => Server): string {
  return make === inMcp ? 'in the style of MCP' : 'in the style of plain JSON-RPC'
}
