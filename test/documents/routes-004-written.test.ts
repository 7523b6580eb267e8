/**
 * The routing document as written: its example, its log line, its required cases and its sample cases, through its own
 * entry point. `routes-004.test.ts` checks the same with `handle` and over the transports.
 */

import { readFileSync } from 'node:fs'
import { apiKeys, authenticate, concurrency, memoryStore } from 'sluice'
import { customLayer } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import type { ListenOptions } from '../../servers/routes/src/index.ts'
import { createListenRequest } from '../../servers/routes/src/index.ts'
import { toolNames } from '../../servers/routes/src/listen-request.ts'
import { openRoutes } from '../../servers/routes/test/server.fixture.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const connection = { client_id: 'claude-desktop', trace_id: 'trace-abc' }
const clock = fakeClock(Date.parse('2025-10-14T10:30:00Z'))

function listening(server: ListenOptions['server'] = {}) {
  const { logger, lines } = recordingLogger()
  const listenRequest = createListenRequest(toolNames, { clock, logger, server })
  return { listenRequest, lines, hear: (text: string) => listenRequest(text, connection) }
}

/** §4, verbatim. */
const example = `{
  "jsonrpc": "2.0",
  "id": "req-123",
  "method": "tools/call",
  "params": {
    "name": "calculate_route",
    "arguments": {
      "origin": "Hanoi",
      "destination": "Ho Chi Minh City"
    }
  }
}`
const forwarded = {
  request_id: 'req-123',
  tool_name: 'calculate_route',
  arguments: { origin: 'Hanoi', destination: 'Ho Chi Minh City' },
  metadata: { timestamp: '2025-10-14T10:30:00Z', trace_id: 'trace-abc', client_id: 'claude-desktop' },
}

describe('its example', () => {
  test('the input is passed on as the output it shows', async () => {
    expect(await listening().hear(example)).toEqual(forwarded)
  })
  test('the log line on receipt', async () => {
    const { hear, lines } = listening()
    await hear(example)
    expect(lines).toMatchObject([
      { level: 'info', message: 'Received request req-123 for tool calculate_route from claude-desktop' },
    ])
    expect(JSON.stringify(lines)).not.toContain('Hanoi')
  })
  test('the trace begins with the trace_id of the connection, of the request, or a new one', async () => {
    const { listenRequest } = listening()
    const traced = example.replace(
      '"params": {',
      '"params": { "_meta": { "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },',
    )
    expect(await listenRequest(traced, { client_id: 'x' })).toMatchObject({
      metadata: { trace_id: '0af7651916cd43dd8448eb211c80319c' },
    })
    expect(await listenRequest(example, { client_id: 'x' })).toMatchObject({
      metadata: { trace_id: expect.stringMatching(/^[\da-f-]{36}$/) },
    })
  })
})

/** §6.2, under its own names. */
const cases: { readonly [name: string]: () => Promise<void> } = {
  async 'Valid JSON-RPC Request'() {
    expect(await listening().hear(example)).toEqual(forwarded)
  },
  async 'Normal MCP Tool Call'() {
    expect(await listening().hear(example)).toMatchObject({ tool_name: 'calculate_route' })
  },
  async 'Invalid JSON'() {
    for (const text of ['{', '{"jsonrpc": "2.0",', 'GET / HTTP/1.1'])
      expect(await listening().hear(text)).toMatchObject({ error: { code: -32700 } })
  },
  async 'Missing Required Fields'() {
    for (const field of ['jsonrpc', 'method', 'params']) {
      const { [field]: _, ...request } = JSON.parse(example) as { [name: string]: unknown }
      expect(await listening().hear(JSON.stringify(request))).toMatchObject({ id: 'req-123', error: { code: -32600 } })
    }
  },
  async 'Unknown Method'() {
    expect(await listening().hear(example.replace('tools/call', 'tools/fly'))).toMatchObject({
      error: { code: -32601 },
    })
    expect(await listening().hear(example.replace('calculate_route', 'teleport'))).toMatchObject({
      error: { code: -32601 },
    })
  },
  async 'Server Overload'() {
    const release = Promise.withResolvers<void>()
    const { hear } = listening({
      use: [
        concurrency({ perTenant: 1, queue: 0 }),
        customLayer((next) => async (call) => {
          await release.promise
          return next(call)
        }),
      ],
    })
    const first = hear(example)
    const second = await hear(example)
    release.resolve()
    expect(second).toMatchObject({ error: { code: -32000, data: { retryAfterMs: expect.any(Number) } } })
    expect(await first).toEqual(forwarded)
  },
  async 'Empty Request'() {
    expect(await listening().hear('{}')).toMatchObject({ error: { code: -32600 } })
    expect(await listening().hear('')).toMatchObject({ error: { code: -32700 } })
  },
  async 'Malformed JSON-RPC'() {
    for (const wrong of ['"1.0"', '2', 'null'])
      expect(await listening().hear(example.replace('"2.0"', wrong))).toMatchObject({ error: { code: -32600 } })
  },
  async 'Large Payload'() {
    const origin = 'x'.repeat(1_000_000)
    expect(await listening().hear(example.replace('Hanoi', origin))).toMatchObject({ arguments: { origin } })
    expect(await listening().hear('['.repeat(100_000))).toMatchObject({ error: { code: -32600 } })
  },
  async 'Concurrent Requests'() {
    const { hear } = listening()
    const ids = Array.from({ length: 100 }, (_, n) => `req-${n}`)
    const received = await Promise.all(ids.map((id) => hear(example.replace('req-123', id))))
    expect(received.map((each) => ('request_id' in each ? each.request_id : undefined))).toEqual(ids)
  },
}
describe('its required cases', () => {
  for (const [name, check] of Object.entries(cases)) test(name, check)
})

/** §6.3, verbatim. */
describe('its sample cases', () => {
  test('Test Case 1: Valid Request', async () => {
    const input = `{
  "jsonrpc": "2.0",
  "id": "req-123",
  "method": "tools/call",
  "params": {
    "name": "calculate_route",
    "arguments": {"origin": "Hanoi", "destination": "HCMC"}
  }
}`
    expect(await listening().hear(input)).toEqual({
      ...forwarded,
      arguments: { origin: 'Hanoi', destination: 'HCMC' },
    })
  })
  test('Test Case 2: Invalid JSON', async () => {
    const input = '{"jsonrpc": "2.0", "method": "tools/call" // missing closing brace'
    expect(await listening().hear(input)).toMatchObject({ error: { code: -32700 } })
  })
  test('Test Case 3: Missing Method', async () => {
    const input = `{
  "jsonrpc": "2.0",
  "id": "req-123",
  "params": {"name": "calculate_route"}
}`
    expect(await listening().hear(input)).toMatchObject({ id: 'req-123', error: { code: -32600 } })
  })
})

test('its error case of a failed authentication is −32001', async () => {
  const keys = apiKeys(memoryStore(clock), { clock })
  const { listenRequest, hear } = listening({ use: [authenticate({ verifiers: [keys] })] })
  expect(await hear(example)).toMatchObject({ id: 'req-123', error: { code: -32001 } })
  const { secret } = await keys.create({ subject: 'claude-desktop' })
  const headers = { authorization: `Bearer ${secret}` }
  expect(await listenRequest(example, { ...connection, headers })).toEqual(forwarded)
})

test('a request that takes 30 seconds ends with an error', async () => {
  const own = fakeClock(0)
  const { logger } = recordingLogger()
  const never = Promise.withResolvers<never>()
  const stuck = createListenRequest(toolNames, {
    clock: own,
    logger,
    server: { use: [customLayer(() => () => never.promise)] },
  })
  const answer = stuck(example, connection)
  await own.advance(29_999)
  await own.advance(1)
  expect(await answer).toMatchObject({ id: 'req-123', error: { code: -32008 } })
})

test('parsing a request takes less than 100 ms of CPU', async () => {
  const { hear } = listening()
  const times = 100
  const before = process.cpuUsage()
  for (let n = 0; n < times; n++) await hear(example)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000 / times).toBeLessThan(100)
})

test("the passed-on names and arguments are those of the server's own tools", async () => {
  const { definition, call } = await openRoutes()
  expect(definition.tools?.map(({ name }) => name).sort()).toEqual([...toolNames].sort())
  const received = await listening().hear(example)
  expect('arguments' in received && (await call(received.tool_name, received.arguments))).toMatchObject({
    isError: false,
  })
})

test('docs/documents.md says how many there are', () => {
  const text = readFileSync(new URL('../../docs/documents.md', import.meta.url), 'utf8')
  expect(text).toContain(
    `004: 1 of 1 example with its log line and its trace, ${Object.keys(cases).length} of 10 required`,
  )
})
