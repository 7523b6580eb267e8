/**
 * The memory document as written: every example, edge case and scenario, through its own entry point, in its words.
 * `memory-000.test.ts` checks the same with `handle` and over the transports.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger, Tool } from 'sluice'
import { defineServer, tool } from 'sluice'
import { createServer, nodeClock } from 'sluice/node'
import { log } from 'sluice/plugins'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { BareResponse } from '../../servers/memory/src/index.ts'
import { handleRequest, openRequestHandler, toHandleRequest } from '../../servers/memory/src/index.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const silent: Logger = { info() {}, warn() {}, error() {} }

/** The document's `MCPServer` with the tools of the memory server. */
async function memoryServer(logger: Logger = silent): Promise<(request: unknown) => Promise<BareResponse>> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
  const { handleRequest, close } = await openRequestHandler({ folder, env: {}, clock: nodeClock, logger })
  onTestFinished(async () => {
    await close()
    rmSync(folder, { recursive: true, force: true })
  })
  return handleRequest
}
/** The document's `MCPServer` with the test's own tools. */
const serverWith = (tools: readonly Tool[], logger: Logger = silent) =>
  toHandleRequest(
    createServer(defineServer({ name: 'zapomni-memory', version: '1.0.0', tools }), {
      ...{ errors: 'json-rpc', clock: nodeClock, use: [log(logger)] },
    }),
  )
const call = (name: string, args: object, id?: unknown): object => ({
  method: 'tools/call',
  params: { name, arguments: args },
  ...(id !== undefined && { id }),
})
const buggy = (message: string): Tool =>
  tool({
    name: 'buggy_tool',
    description: 'Breaks',
    run() {
      throw new RangeError(message)
    },
  })
const messageOf = ({ error }: BareResponse): string => error?.message.toLowerCase() ?? ''

/** The requests of the document and their results. */
const examples: readonly (readonly [name: string, request: object, expected: object])[] = [
  [
    'Example (docstring): a call that is no error',
    call('add_memory', { text: 'Python is great' }, 1),
    { isError: false },
  ],
  [
    'Valid: tools/call',
    call('add_memory', { text: 'Python is great' }, 1),
    {
      content: [
        {
          type: 'text',
          text: expect.stringMatching(/^Memory stored successfully\.\nID: [\da-f-]{36}\nChunks created: 1$/),
        },
      ],
      isError: false,
    },
  ],
  [
    'Valid: tools/list',
    { method: 'tools/list', params: {}, id: 2 },
    {
      tools: expect.arrayContaining([
        {
          name: 'add_memory',
          description: 'Add a memory to the knowledge graph',
          inputSchema: expect.objectContaining({ type: 'object', required: ['text'] }),
        },
        { name: 'search_memory', description: 'Search the knowledge graph', inputSchema: expect.anything() },
      ]),
    },
  ],
  [
    'Invalid: missing method',
    { params: { name: 'add_memory' }, id: 1 },
    { error: { code: -32600, message: 'Invalid request: missing method field' } },
  ],
  [
    'Invalid: unknown method',
    { method: 'unknown/method', id: 1 },
    { error: { code: -32601, message: 'Method not found: unknown/method' } },
  ],
  [
    'Invalid: tools/call missing tool name',
    { method: 'tools/call', params: { arguments: { text: 'test' } }, id: 1 },
    { error: { code: -32602, message: 'Invalid params: missing tool name' } },
  ],
  [
    'Invalid: tool not registered, with the tools there are',
    call('nonexistent_tool', {}, 1),
    {
      error: {
        code: -32601,
        message: 'Tool not found: nonexistent_tool',
        data: { available_tools: expect.arrayContaining(['add_memory', 'search_memory', 'get_stats']) },
      },
    },
  ],
]

describe('its examples', () => {
  test.each(examples)('%s', async (_, request, expected) => {
    const handleRequest = await memoryServer()
    expect(await handleRequest(request)).toMatchObject(expected)
  })

  test('a bare result has only the members that the document shows', async () => {
    const handleRequest = await memoryServer()
    expect(Object.keys(await handleRequest(call('add_memory', { text: 'x' }, 1))).sort()).toEqual([
      'content',
      'isError',
    ])
    const { tools, ...rest } = await handleRequest({ method: 'tools/list', id: 1 })
    expect(rest).toEqual({})
    for (const each of tools as readonly object[])
      expect(Object.keys(each).sort()).toEqual(['description', 'inputSchema', 'name'])
  })
})

/** Its seventeen scenarios, under their own names. */
const scenarios: { readonly [name: string]: () => Promise<void> } = {
  async test_handle_request_tools_call_success() {
    const handleRequest = await memoryServer()
    expect(await handleRequest(call('add_memory', { text: 'Python is great' }, 1))).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('Memory stored successfully.') }],
      isError: false,
    })
  },
  async test_handle_request_tools_list_success() {
    const handleRequest = await memoryServer()
    const { tools } = await handleRequest({ method: 'tools/list', params: {}, id: 2 })
    expect(tools).toHaveLength(19)
    for (const each of tools as readonly object[])
      expect(each).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object' },
      })
  },
  async test_handle_request_multiple_tools() {
    const handleRequest = await memoryServer()
    await handleRequest(call('add_memory', { text: 'Lisp has macros' }, 1))
    const textOf = ({ content }: BareResponse): string => (content as readonly { text: string }[])[0]?.text ?? ''
    expect(textOf(await handleRequest(call('search_memory', { query: 'macros' }, 2)))).toContain('Lisp has macros')
    expect(textOf(await handleRequest(call('get_stats', {}, 3)))).toContain('Total Memories: 1')
  },
  async test_handle_request_with_request_id() {
    const { logger, lines } = recordingLogger()
    const handleRequest = await memoryServer(logger)
    expect(await handleRequest(call('get_stats', {}, 42))).toMatchObject({ isError: false })
    expect(lines).toContainEqual(expect.objectContaining({ id: 42 }))
  },
  async test_handle_request_with_string_id() {
    const { logger, lines } = recordingLogger()
    const handleRequest = await memoryServer(logger)
    expect(await handleRequest(call('get_stats', {}, 'req-123'))).toMatchObject({ isError: false })
    expect(lines).toContainEqual(expect.objectContaining({ id: 'req-123' }))
  },
  async test_handle_request_empty_dict() {
    const response = await (await memoryServer())({})
    expect(response).toHaveProperty('error')
    expect(response.error?.code).toBe(-32600)
    expect(messageOf(response)).toContain('missing method')
  },
  async test_handle_request_unknown_method() {
    const handleRequest = await memoryServer()
    const response = await handleRequest({ method: 'foo/bar', id: 1 })
    expect(response.error?.code).toBe(-32601)
    expect(messageOf(response)).toContain('method not found')
    const named = await handleRequest({ method: 'unknown/action' })
    expect(named.error?.code).toBe(-32601)
    expect(named.error?.message).toContain('unknown/action')
  },
  async test_handle_request_tools_call_missing_name() {
    const response = await (await memoryServer())({ method: 'tools/call', params: { arguments: {} }, id: 1 })
    expect(response.error?.code).toBe(-32602)
    expect(messageOf(response)).toContain('missing tool name')
  },
  async test_handle_request_tools_call_missing_arguments() {
    const response = await (await memoryServer())({ method: 'tools/call', params: { name: 'add_memory' }, id: 1 })
    expect(response.error).toMatchObject({ code: -32602, message: 'Invalid params: missing arguments' })
  },
  async test_handle_request_tool_not_found() {
    const response = await (await memoryServer())(call('fake_tool', {}, 1))
    expect(response.error?.code).toBe(-32601)
    expect(response.error?.message).toContain('fake_tool')
    expect(response.error?.data?.['available_tools']).toContain('add_memory')
  },
  async test_handle_request_tool_execution_error() {
    const response = await serverWith([buggy('Internal bug')])(call('buggy_tool', {}, 1))
    expect(response.error?.code).toBe(-32603)
    expect(messageOf(response)).toContain('tool execution failed')
    expect(JSON.stringify(response)).not.toContain('Internal bug')
  },
  async test_handle_request_tools_list_empty() {
    const response = await serverWith([])({ method: 'tools/list', id: 1 })
    expect(response).toEqual({ tools: [] })
  },
  async test_handle_request_notification_no_id() {
    const { logger, lines } = recordingLogger()
    const handleRequest = await memoryServer(logger)
    const response = await handleRequest(call('add_memory', { text: 'test' }))
    expect(response).toMatchObject({ content: expect.any(Array), isError: false })
    expect(lines).toContainEqual(expect.objectContaining({ id: '<no-id>' }))
  },
  async test_handle_request_calls_tool_execute() {
    const executed: unknown[] = []
    const mock = tool({
      name: 'mock_tool',
      description: 'Notes what it gets',
      input: z.object({ text: z.string() }),
      run(input) {
        executed.push(input)
        return 'done'
      },
    })
    await serverWith([mock])(call('mock_tool', { text: 'test' }, 1))
    expect(executed).toEqual([{ text: 'test' }])
  },
  async test_handle_request_logs_request() {
    const { logger, lines } = recordingLogger()
    await (await memoryServer(logger))({ method: 'tools/list', id: 7 })
    expect(lines).toContainEqual(expect.objectContaining({ id: 7, method: 'tools/list' }))
  },
  async test_handle_request_logs_tool_execution() {
    const { logger, lines } = recordingLogger()
    await serverWith(
      [tool({ name: 'good_tool', description: 'Works', run: () => 'ok' }), buggy('a bug')],
      logger,
    )(call('good_tool', {}, 1))
    const handleRequest = serverWith([buggy('a bug')], logger)
    await handleRequest(call('buggy_tool', {}, 2))
    expect(lines).toContainEqual(expect.objectContaining({ id: 1, tool: 'good_tool', level: 'info' }))
    expect(lines).toContainEqual(expect.objectContaining({ id: 2, tool: 'buggy_tool', level: 'error' }))
  },
  async test_handle_request_performance_overhead() {
    const handleRequest = await memoryServer()
    const times: number[] = []
    for (let n = 0; n < 100; n++) {
      const begin = performance.now()
      await handleRequest({ method: 'tools/list', id: n })
      times.push(performance.now() - begin)
    }
    // The fastest of them, because other work of the machine is not the overhead of the request.
    expect(Math.min(...times)).toBeLessThan(5)
  },
}

describe('its scenarios', () => {
  for (const [name, scenario] of Object.entries(scenarios)) test(name, scenario)
})

describe('it never throws', () => {
  test.each([null, undefined, 7, 'text', [], [{}], true])('%j is an invalid request', async (request) => {
    const handleRequest = serverWith([])
    expect(await handleRequest(request)).toEqual({ error: { code: -32600, message: 'Invalid request format' } })
  })

  test('any members get an answer, and nothing runs after a refusal', async () => {
    const ran: string[] = []
    const noting = tool({ name: 'noting', description: 'Notes that it ran', run: () => `ran ${ran.push('x')}` })
    const handleRequest = serverWith([noting])
    for (const request of [
      { method: 5 },
      { method: null },
      { method: 'tools/call', params: null },
      { method: 'tools/call', params: [] },
      { method: 'tools/call', params: { name: 5, arguments: {} } },
      { method: 'tools/call', params: { name: 'noting', arguments: 'text' } },
      { method: 'tools/call', params: { name: 'noting', arguments: {} }, id: {} },
    ])
      expect(await handleRequest(request), JSON.stringify(request)).toHaveProperty('error.code')
    expect(ran).toEqual([])
    expect(await handleRequest({ method: 'tools/call', params: { name: 'noting', arguments: {} }, id: null })).toEqual({
      content: [{ type: 'text', text: 'ran 1' }],
      isError: false,
    })
  })
})

test("the exported function serves this account's own memory", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
  const before = process.env['SLUICE_DATA']
  process.env['SLUICE_DATA'] = folder
  onTestFinished(() => {
    if (before === undefined) delete process.env['SLUICE_DATA']
    else process.env['SLUICE_DATA'] = before
    rmSync(folder, { recursive: true, force: true })
  })
  expect(await handleRequest(call('add_memory', { text: 'Python is great' }, 1))).toMatchObject({ isError: false })
  expect(await handleRequest({ method: 'unknown/action' })).toMatchObject({ error: { code: -32601 } })
})

test('docs/documents.md says how many there are', () => {
  const text = readFileSync(new URL('../../docs/documents.md', import.meta.url), 'utf8')
  const count = Object.keys(scenarios).length
  expect(text).toContain(`000: ${examples.length} of 7 examples, 7 of 7 edge cases, ${count} of 17 scenarios`)
})
