/** Every transport on real edge runtimes, with the official clients: the same definition, no Node, no eval. */

import { fileURLToPath } from 'node:url'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { webSocketTransport } from 'sluice/websocket-client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { callOf } from '../kit/clients/valid-messages.ts'
import type { RunningRuntime, RuntimeName, StartOptions } from '../kit/processes/edge-runtimes.ts'
import { startRuntime } from '../kit/processes/edge-runtimes.ts'

const worker = fileURLToPath(new URL('transports-worker.ts', import.meta.url))

const places: readonly { readonly name: string; readonly runtime: RuntimeName; readonly options: StartOptions }[] = [
  { name: 'workerd', runtime: 'workerd', options: {} },
  { name: 'a Durable Object on workerd', runtime: 'workerd', options: { object: 'Everything' } },
  { name: 'deno', runtime: 'deno', options: {} },
  { name: 'bun', runtime: 'bun', options: {} },
]

describe.each(places)('$name', ({ runtime, options }) => {
  let running: RunningRuntime
  beforeAll(async () => {
    running = await startRuntime(runtime, worker, options)
  }, 60_000)
  afterAll(() => running?.close())
  const at = (path: string): URL => new URL(path, running.url)
  const socketAt = (path: string): URL => new URL(path, running.url.replace('http', 'ws'))

  test.each([
    ['Streamable HTTP', () => new StreamableHTTPClientTransport(at('/mcp'))],
    ['HTTP+SSE', () => new SSEClientTransport(at('/sse'))],
    ['WebSocket', () => new WebSocketClientTransport(socketAt('/ws'))],
  ])('the official client of v1 over %s', async (_, open) => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(open() as Transport)
    onTestFinished(() => client.close())
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toEqual([
      { type: 'text', text: 'hello' },
    ])
  })

  test.each(['legacy', { pin: '2026-07-28' }] as const)('our WebSocket carries v2 with its token, %j', async (mode) => {
    const client = new ClientV2({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(webSocketTransport(socketAt('/guarded/ws'), { token: 'good-ann' }))
    onTestFinished(() => client.close())
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toEqual([
      { type: 'text', text: 'hello' },
    ])
  })

  /** The status of the refusal, or the close code after one message. */
  const attempt = (
    path: string,
    headers: { readonly [name: string]: string },
    message?: string | Buffer,
    protocols = ['mcp'],
  ): Promise<number> =>
    new Promise((resolve) => {
      const ws = new WebSocket(socketAt(path), protocols, { headers })
      onTestFinished(() => ws.terminate())
      ws.on('unexpected-response', (_, response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      ws.on('open', () => message !== undefined && ws.send(message))
      ws.on('close', resolve)
      ws.on('error', () => {})
    })

  test('an upgrade is refused before it happens', async () => {
    expect(await attempt('/ws', { origin: 'https://evil.example' })).toBe(403)
    expect(await attempt('/ws', { origin: 'null' })).toBe(403)
    expect(await attempt('/ws', {}, undefined, ['other'])).toBe(400)
    expect(await attempt('/guarded/ws', {})).toBe(401)
    expect(await attempt('/guarded/ws', { authorization: 'Bearer bad' })).toBe(401)
    expect((await fetch(at('/ws'))).status).toBe(426)
  })

  test('a message that is too large, or not text, closes the socket', async () => {
    const large = JSON.stringify(callOf(1, 'echo', { text: 'x'.repeat(10_000) }))
    expect(await attempt('/ws', {}, large)).toBe(1009)
    expect(await attempt('/ws', {}, Buffer.from('{}'))).toBe(1003)
  })
})
