/** Tests the log of a whole server: which lines there are, and their fields. */

import { expect, test } from 'vitest'
import * as z from 'zod'
import { fail } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import { jsonSchema } from '../json-schema/index.ts'
import { log } from '../plugins/log.ts'
import { metrics } from '../plugins/metrics.ts'
import { defineServer } from '../protocol/definition.ts'
import { tool } from '../protocol/tools.ts'
import { createServer } from '../server.ts'
import { fakeClock } from '../testing/clock.ts'

type Line = LogLine & { readonly level: string }

const definition = defineServer({
  name: 'shop',
  version: '1',
  tools: [
    tool({
      name: 'tag',
      description: 'Tags',
      input: jsonSchema<object>({ type: 'object', properties: { a: {} }, additionalProperties: { type: 'number' } }),
      run: () => 'done',
    }),
    tool({
      name: 'pay',
      description: 'Pays',
      input: z.strictObject({ cents: z.number(), to: z.object({ name: z.string() }) }),
      run({ cents }): string {
        if (cents === 0) throw fail('Nothing to pay')
        throw new Error(`cannot pay ${cents}`, {
          cause: new TypeError('no answer for token=abcdef', { cause: new Error(`refused 4711 at 10.0.0.1`) }),
        })
      },
    }),
  ],
})

function open(withDebug = true) {
  const lines: Line[] = []
  const at = (level: string) => (line: LogLine) => {
    lines.push({ level, ...line })
  }
  const logger: Logger = {
    ...{ info: at('info'), warn: at('warn'), error: at('error'), lost: 3 },
    ...(withDebug && { debug: at('debug') }),
  }
  const clock = fakeClock(1000)
  const server = createServer(definition, { clock, use: [log(logger), metrics()] })
  const call = (args: object, meta: object = {}, name = 'pay'): Promise<unknown> =>
    server.handle({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, _meta: meta },
    })
  return { lines, server, call }
}

test('a request has a line when it arrives, at debug level, with the same trace as the line of its end', async () => {
  const { lines, call } = open()
  await call({ cents: 0, to: { name: 'ann' } })
  expect(lines).toMatchObject([
    { level: 'debug', event: 'request_received', server: 'shop', method: 'tools/call', tool: 'pay' },
    { level: 'warn', event: 'tool_execution_failed', server: 'shop' },
  ])
  expect(lines[0]?.['traceId']).toBe(lines[1]?.['traceId'])
  const quiet = open(false)
  await quiet.call({ cents: 0, to: { name: 'ann' } })
  expect(quiet.lines).toHaveLength(1)
})

test.each([
  ['with', true],
  ['without', false],
])('%s debug lines, every line names its server, a trace and a span: the client’s, or new ones', async (_, debug) => {
  const { lines, call, server } = open(debug)
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  await call({}, { traceparent: `00-${traceId}-${spanId}-01` })
  for (const line of lines) expect(line).toMatchObject({ traceId, spanId })
  await call({})
  await server.handle({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await server.handle('nonsense')
  for (const line of lines)
    expect(line).toMatchObject({
      server: 'shop',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
  expect(new Set(lines.map((line) => line['traceId'])).size).toBe(4)
})

test('a notification has a line with its duration', async () => {
  const { lines, server } = open()
  await server.handle({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect(lines).toMatchObject([{ event: 'notification', method: 'notifications/initialized', durationMs: 0 }])
})

test('the line of a bug has its chain of causes, without the caller’s values', async () => {
  const { lines, call } = open(false)
  await call({ cents: 4711, to: { name: 'ann' } })
  expect(lines[0]).toMatchObject({
    ...{ level: 'error', errorMessage: 'cannot pay [redacted]' },
    cause: 'TypeError: no answer for [redacted] <- Error: refused [redacted] at 10.0.0.1',
  })
})

test('refused arguments are named if the schema names them', async () => {
  const { lines, call } = open(false)
  await call({ cents: 'much', to: { name: 7 }, 'my secret': 1 })
  expect(lines[0]).toMatchObject({ level: 'warn', reason: 'invalidArguments' })
  expect(String(lines[0]?.['refusedArguments'])).toMatch(/^cents, to/)
  await call({ 'my secret': 'much' }, {}, 'tag')
  expect(lines[1]).toMatchObject({ reason: 'invalidArguments', refusedArguments: '(not in the schema)' })
  expect(JSON.stringify(lines)).not.toMatch(/my secret|much/)
})

test('the line of a list has the number of tools', async () => {
  const { lines, server } = open(false)
  await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect(lines).toMatchObject([{ event: 'listing_tools', count: 2 }])
})

test('lost lines are a metric', async () => {
  const { server } = open()
  const page = await server.page('/metrics', '127.0.0.1')
  expect(page?.body).toContain('sluice_log_lines_lost_total{server="shop"} 3\n')
})
