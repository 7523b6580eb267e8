/** Two processes of an edge runtime that share Redis, and a client whose requests alternate between them. */

import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { RunningRuntime } from '../kit/processes/edge-runtimes.ts'
import { startRuntime } from '../kit/processes/edge-runtimes.ts'
import type { RedisServer } from '../kit/processes/redis.ts'
import { startRedis } from '../kit/processes/redis.ts'

const program = fileURLToPath(new URL('../../examples/edge-fleet.ts', import.meta.url))

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
}, 60_000)
afterAll(() => redis.stop())

describe.each(['deno', 'bun'] as const)('%s', (runtime) => {
  let processes: readonly RunningRuntime[] = []
  beforeAll(async () => {
    const env = { REDIS_URL: redis.url, SLUICE_SECRET: 'the same in every process' }
    processes = await Promise.all([startRuntime(runtime, program, { env }), startRuntime(runtime, program, { env })])
  }, 120_000)
  afterAll(() => Promise.all(processes.map(({ close }) => close())))

  test.each([
    ['Streamable HTTP', (url: URL, given: { fetch: typeof fetch }) => new StreamableHTTPClientTransport(url, given)],
    ['HTTP+SSE', (url: URL, given: { fetch: typeof fetch }) => new SSEClientTransport(url, given)],
  ] as const)('both processes serve a session over %s', async (way, open) => {
    const first = new URL(way === 'HTTP+SSE' ? '/sse' : '/mcp', processes[0]?.url)
    const met: number[] = []
    let turn = 0
    const alternating: typeof fetch = (input, init) => {
      const { pathname, search } = new URL(String(input))
      const at = turn++ % processes.length
      met.push(at)
      return fetch(new URL(pathname + search, processes[at]?.url), init)
    }
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Ann' } }))
    await client.connect(open(first, { fetch: alternating }) as Transport)
    onTestFinished(() => client.close())
    for (let call = 0; call < 3; call++)
      expect((await client.callTool({ name: 'greet', arguments: {} })).content).toEqual([
        { type: 'text', text: 'Hello Ann' },
      ])
    expect(new Set(met)).toEqual(new Set([0, 1]))
  })
})
