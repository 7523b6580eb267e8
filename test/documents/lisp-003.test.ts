/**
 * The live-Lisp server's document on its handlers: the methods, the codes, the details of a refused argument, and the
 * state after a failure. `docs/documents.md` says where Sluice differs.
 *
 * Tested elsewhere: the approval of tools and `approval/respond` in test/approvals/document-003.test.ts, the 30 seconds
 * of a tool with deadlines.
 */

import type { Server, ServerOptions, Tool } from 'sluice'
import { defineServer, prompt, resource, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  aCallOf,
  aRequest,
  type Json,
  openHttp,
  openStdio,
  overStdio,
  transportsAfter,
} from '../kit/clients/scenario.client.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const info = { name: 'cl-tron-mcp', version: '0.1.0' }
const guide = '# For agents\n\nConnect first.'

/** The same arguments in two schema libraries, because the client's text must not depend on the author's choice. */
const breakpoints: readonly Tool[] = [
  tool({
    name: 'breakpoint_set',
    description: 'Stop where a function begins',
    input: z.object({
      functionName: z.string().min(2),
      hitCount: z.int().min(1).optional(),
      packages: z.array(z.string()).optional(),
      enabled: z.boolean().optional(),
    }),
    run: ({ functionName }) => `Breakpoint on ${functionName}`,
  }),
  tool({
    name: 'breakpoint_set_plain',
    description: 'Stop where a function begins',
    input: jsonSchema<{ functionName: string }>({
      type: 'object',
      properties: {
        functionName: { type: 'string', minLength: 2 },
        hitCount: { type: 'integer', minimum: 1 },
        packages: { type: 'array', items: { type: 'string' } },
        enabled: { type: 'boolean' },
      },
      required: ['functionName'],
    }),
    run: ({ functionName }) => `Breakpoint on ${functionName}`,
  }),
]

const lisp = defineServer({
  ...info,
  tools: [
    ...breakpoints,
    tool({ name: 'health_check', description: 'Whether the image lives', run: () => ({ status: 'healthy' }) }),
    tool({
      name: 'swank_status',
      description: 'Breaks',
      run() {
        throw new Error('The value NIL is not of type SWANK::CONNECTION')
      },
    }),
  ],
  resources: [resource({ uri: 'file:///AGENTS.md', name: 'AGENTS.md', mimeType: 'text/markdown', read: () => guide })],
  prompts: [
    prompt({
      name: 'getting-started',
      description: 'How to connect',
      run: () => [
        { role: 'user', content: 'Connect to the image.' },
        { role: 'assistant', content: 'Connected.' },
      ],
    }),
  ],
})

const serve =
  (runtime: ServerOptions = {}) =>
  (): Server =>
    createServer(lisp, runtime)
const revision = '2024-11-05'
const overEveryTransport = transportsAfter(revision)
/** Before any other message. */
const asFirst = transportsAfter(null)

describe('methods', () => {
  asFirst('initialize returns revision, capabilities and server', serve(), async (send) => {
    expect((await send(aRequest('initialize')))?.result).toEqual({
      protocolVersion: '2024-11-05',
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      serverInfo: info,
    })
  })

  overEveryTransport('ping keeps a connection alive with an empty result', serve(), async (send) => {
    expect((await send(aRequest('ping')))?.result).toEqual({})
  })

  overEveryTransport('tools are listed and called', serve(), async (send) => {
    expect((await send(aRequest('tools/list')))?.result).toMatchObject({
      tools: lisp.tools?.map(({ name }) => ({ name })),
    })
    expect((await send(aCallOf('health_check')))?.result).toMatchObject({
      content: [{ type: 'text', text: '{"status":"healthy"}' }],
      isError: false,
    })
  })

  overEveryTransport('documents are listed, and read by their URI', serve(), async (send) => {
    expect((await send(aRequest('resources/list')))?.result).toEqual({
      resources: [{ uri: 'file:///AGENTS.md', name: 'AGENTS.md', mimeType: 'text/markdown' }],
    })
    expect((await send(aRequest('resources/read', { uri: 'file:///AGENTS.md' })))?.result).toEqual({
      contents: [{ uri: 'file:///AGENTS.md', mimeType: 'text/markdown', text: guide }],
    })
  })

  overEveryTransport('prompts are listed, and got with one content block per message', serve(), async (send) => {
    expect((await send(aRequest('prompts/list')))?.result).toEqual({
      prompts: [{ name: 'getting-started', description: 'How to connect' }],
    })
    expect((await send(aRequest('prompts/get', { name: 'getting-started' })))?.result).toEqual({
      description: 'How to connect',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Connect to the image.' } },
        { role: 'assistant', content: { type: 'text', text: 'Connected.' } },
      ],
    })
  })
})

describe('codes', () => {
  overEveryTransport('an unknown method is not found, including the list of methods', serve(), async (send) => {
    for (const method of ['listMethods', 'rpc.discover', 'x'])
      expect(await send(aRequest(method))).toMatchObject({
        error: { code: -32601, message: `Method not found: ${method}` },
      })
  })

  for (const [errors, code, message] of [
    ['mcp', -32602, 'Unknown tool: swank_nothing'],
    ['json-rpc', -32601, 'Tool not found: swank_nothing'],
  ] as const)
    overEveryTransport(`an unknown tool is ${code} (${errors})`, serve({ errors }), async (send) => {
      expect(await send(aCallOf('swank_nothing'))).toMatchObject({ error: { code, message } })
    })

  overEveryTransport(
    'a missing document is named in the refusal, and one outside the list does not exist',
    serve(),
    async (send) => {
      for (const uri of ['file:///missing.md', 'file:///etc/passwd', 'file:///../AGENTS.md', 'AGENTS.md'])
        expect((await send(aRequest('resources/read', { uri })))?.error).toMatchObject({
          code: -32002,
          message: 'Resource not found',
          data: { uri },
        })
    },
  )

  test("a client of 2026-07-28 gets its revision's code for a missing document", async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    expect(await serve()().handle(aRequest('resources/read', { uri: 'file:///missing.md', _meta }))).toMatchObject({
      error: { code: -32602, message: 'Resource not found' },
    })
  })

  overEveryTransport(
    'an unknown prompt, and a read or get without a name, are invalid params',
    serve(),
    async (send) => {
      expect(await send(aRequest('prompts/get', { name: 'x' }))).toMatchObject({
        error: { code: -32602, message: 'Unknown prompt: x' },
      })
      expect(await send(aRequest('prompts/get', {}))).toMatchObject({
        error: { code: -32602, message: 'Invalid params: missing prompt name' },
      })
      expect(await send(aRequest('resources/read', {}))).toMatchObject({
        error: { code: -32602, message: 'Invalid params: missing uri' },
      })
      expect(await send(aRequest('tools/call', {}))).toMatchObject({
        error: { code: -32602, message: 'Invalid params: missing tool name' },
      })
    },
  )

  test('a line or body that is not JSON is answered, also over stdio', async () => {
    const broken = '(jsonrpc "2.0")'
    const refusal = { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error: the message is not valid JSON' } }
    expect(await overStdio(serve()(), [broken], revision)).toMatchObject([refusal])
    expect(await (await openHttp(serve()(), revision)).post(broken)).toMatchObject({ status: 400, answer: refusal })
  })

  overEveryTransport('the text of an internal condition stays inside', serve({ errors: 'json-rpc' }), async (send) => {
    const answer = await send(aCallOf('swank_status'))
    expect(answer).toMatchObject({ error: { code: -32603, message: 'Tool execution failed: swank_status' } })
    expect(JSON.stringify(answer)).not.toMatch(/NIL|SWANK::/)
  })
})

describe('the details of a refused argument', () => {
  const refusals: readonly (readonly [what: string, args: Json, details: Json])[] = [
    ['a missing one', {}, { code: 'MISSING_REQUIRED_PARAMETER', param: 'functionName' }],
    ['a text too short', { functionName: 'f' }, { code: 'PARAMETER_TOO_SHORT', param: 'functionName', minLength: 2 }],
    [
      'a number too small',
      { functionName: 'fact', hitCount: 0 },
      { code: 'PARAMETER_TOO_SMALL', param: 'hitCount', min: 1 },
    ],
    ['no text', { functionName: 42 }, { code: 'INVALID_PARAMETER_TYPE', param: 'functionName' }],
    [
      'no whole number',
      { functionName: 'fact', hitCount: 'two' },
      { code: 'INVALID_PARAMETER_TYPE', param: 'hitCount' },
    ],
    ['no list', { functionName: 'fact', packages: 'cl-user' }, { code: 'INVALID_PARAMETER_TYPE', param: 'packages' }],
    ['no truth value', { functionName: 'fact', enabled: 'true' }, { code: 'INVALID_PARAMETER_TYPE', param: 'enabled' }],
    [
      'an item of a list',
      { functionName: 'fact', packages: ['a', 1] },
      { code: 'INVALID_PARAMETER_TYPE', param: 'packages.1' },
    ],
  ]

  for (const { name } of breakpoints)
    for (const [what, args, details] of refusals) {
      const full = { hint: expect.stringMatching(/\w/), ...details }

      test(`${what}: the result tells the model in text, and programs in its metadata (${name})`, async () => {
        const answer = await serve()().handle(aCallOf(name, args))
        expect(answer).toMatchObject({
          result: {
            isError: true,
            content: [{ type: 'text', text: expect.stringContaining(String(details['param'])) }],
            _meta: { 'dev.sluice/error': { reason: 'invalidArguments', issues: [full] } },
          },
        })
      })

      test(`${what}: the error has the details in its data, in the style of plain JSON-RPC (${name})`, async () => {
        const answer = await serve({ errors: 'json-rpc' })().handle(aCallOf(name, args))
        expect(answer).toMatchObject({
          error: { code: -32602, data: { reason: 'invalidArguments', ...full, issues: [full] } },
        })
      })
    }

  overEveryTransport(
    'several problems are reported together, the first one first',
    serve({ errors: 'json-rpc' }),
    async (send) => {
      const answer = await send(aCallOf('breakpoint_set', { functionName: 'f', hitCount: 0 }))
      expect(answer?.error?.data).toMatchObject({
        code: 'PARAMETER_TOO_SHORT',
        minLength: 2,
        issues: [
          { param: 'functionName', minLength: 2 },
          { param: 'hitCount', min: 1 },
        ],
      })
      expect(answer?.error?.data).not.toHaveProperty('min')
    },
  )

  overEveryTransport('valid arguments run the tool', serve(), async (send) => {
    for (const { name } of breakpoints)
      expect(
        await send(aCallOf(name, { functionName: 'fact', hitCount: 1, packages: ['cl-user'], enabled: false })),
      ).toMatchObject({
        result: { content: [{ text: 'Breakpoint on fact' }], isError: false },
      })
  })
})

describe('messages without an id', () => {
  overEveryTransport('a notification is not answered, whatever its name', serve(), async (send) => {
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'exit'])
      expect(await send({ jsonrpc: '2.0', method, params: {} })).toBeNull()
  })

  overEveryTransport(
    'an id of null does not make a notification: it is refused, without an id',
    serve(),
    async (send) => {
      for (const method of ['tools/call', 'notifications/initialized']) {
        const answer = await send(aRequest(method, { name: 'health_check', arguments: {} }, null))
        expect(answer).toMatchObject({ error: { code: -32600, message: expect.stringContaining('id must be') } })
        expect(answer).not.toHaveProperty('id')
      }
    },
  )

  overEveryTransport('an id that is neither text nor an integer is refused', serve(), async (send) => {
    for (const id of [1.5, true, {}, ['1']])
      expect(await send(aRequest('ping', {}, id))).toMatchObject({ error: { code: -32600 } })
  })
})

describe('the state after a failure', () => {
  test('a failed call does not affect the connection and the other calls on it', async () => {
    const clock = fakeClock()
    const held = Promise.withResolvers<string>()
    const slow = tool({ name: 'slow', description: 'Waits', run: () => held.promise })
    const server = createServer({ ...lisp, tools: [...(lisp.tools ?? []), slow] }, { clock })
    const { write, next, received, close } = await openStdio(server, revision)
    write(aCallOf('slow', {}, 'before'))
    write(aCallOf('swank_status', {}, 'broken'))
    expect(await next()).toMatchObject({ id: 'broken', result: { isError: true } })
    write('not even JSON')
    expect(await next()).toMatchObject({ error: { code: -32700 } })
    write(aRequest('ping', {}, 'after'))
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 'after', result: {} })
    held.resolve('done')
    expect(await next()).toMatchObject({ id: 'before', result: { content: [{ text: 'done' }] } })
    await close()
    expect(received).toHaveLength(4)
  })

  test('calls that are pending when the client disconnects are stopped, not answered, and logged', async () => {
    const { logger, lines } = recordingLogger()
    const clock = fakeClock()
    const stopped: string[] = []
    const running = Promise.withResolvers<void>()
    const endless = tool({
      name: 'endless',
      description: 'Waits to be stopped',
      run: (_, { signal, call }) =>
        new Promise<string>(() => {
          signal.addEventListener('abort', () => stopped.push(String(call.id)))
          running.resolve()
        }),
    })
    const server = createServer({ ...info, tools: [endless] }, { clock, use: [log(logger)] })
    const { input, write, received, close } = await openStdio(server, revision)
    write(aCallOf('endless', {}, 'pending'))
    await running.promise
    const ended = close()
    await new Promise<void>((resolve) => input.once('end', resolve))
    await clock.advance(1_000)
    await ended
    expect({ stopped, heard: received }).toEqual({ stopped: ['pending'], heard: [] })
    expect(lines).toContainEqual(expect.objectContaining({ id: 'pending', tool: 'endless', outcome: 'cancelled' }))
  })
})
