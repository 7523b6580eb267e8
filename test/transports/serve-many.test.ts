/** Several servers on one port, each below its own path. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { ServerDefinition } from 'sluice'
import { authenticate, defineServer, tool } from 'sluice'
import { admission, createServer, protectedResource, serveMany } from 'sluice/node'
import { health } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { expect, onTestFinished, test } from 'vitest'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

const named = (name: string): ServerDefinition =>
  defineServer({
    name,
    version: '1',
    tools: [tool({ name: 'who', description: 'Says which server it is', run: () => name })],
  })
const whoIs = async (transport: unknown): Promise<unknown> => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  return (await client.callTool({ name: 'who', arguments: {} })).content
}

test('each is reached by each transport below its own path, and nowhere else', async () => {
  const { urls, close } = await serveMany(
    { '/memory': { server: createServer(named('memory')) }, '/routes': { server: createServer(named('routes')) } },
    { port: 0, sse: sse(), websocket: websocket() },
  )
  onTestFinished(close)
  expect(Object.keys(urls)).toEqual(['/memory', '/routes'])
  for (const [base, url] of Object.entries(urls)) {
    const beside = (end: string): URL => new URL(url.replace(/mcp$/, end))
    const socket = beside('ws')
    socket.protocol = 'ws:'
    for (const transport of [
      new StreamableHTTPClientTransport(new URL(url)),
      new SSEClientTransport(beside('sse')),
      new WebSocketClientTransport(socket),
    ])
      expect(await whoIs(transport)).toEqual([{ type: 'text', text: base.slice(1) }])
  }
  const { origin } = new URL(urls['/memory'] ?? '')
  for (const path of ['/', '/mcp', '/memory', '/memory/', '/memory/x', '/memory/mcp/', '/sse'])
    expect((await fetch(origin + path, { method: 'POST' })).status, path).toBe(404)
})

test('a session of one is unknown to the other, on every transport', async () => {
  const { urls, close } = await serveMany(
    { '/a': { server: createServer(named('a')) }, '/b': { server: createServer(named('b')) } },
    { port: 0, sse: sse() },
  )
  onTestFinished(close)
  const post = (url: string, message: unknown, headers: { readonly [name: string]: string } = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message),
    })
  const [a = '', b = ''] = Object.values(urls)
  const session = { 'mcp-session-id': (await post(a, initialize())).headers.get('mcp-session-id') ?? '' }
  expect((await post(b, request(1, 'ping'), session)).status).toBe(404)
  expect((await post(a, request(1, 'ping'), session)).status).toBe(200)
  const stream = await fetch(a.replace(/mcp$/, 'sse'))
  const reader = stream.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const endpoint = /data: (\S+)/.exec(first)?.[1] ?? ''
  expect(endpoint).toMatch(/^\/a\/messages\?/)
  const { origin } = new URL(a)
  expect((await post(origin + endpoint.replace('/a/', '/b/'), request(1, 'ping'))).status).toBe(404)
  expect((await post(origin + endpoint, request(1, 'ping'))).status).toBe(202)
  await reader?.cancel()
})

test("OAuth clients find each server's own page, and the challenge names it", async () => {
  const guarded = (name: string) => createServer(named(name), { use: [authenticate({ verifiers: [verifier] })] })
  const resource = (name: string) =>
    protectedResource({
      resource: `https://mcp.example.com/${name}/mcp`,
      authorizationServers: ['https://auth.example.com'],
    })
  const { urls, close } = await serveMany(
    {
      '/a': { server: guarded('a'), resource: resource('a') },
      '/b': { server: guarded('b'), resource: resource('b') },
    },
    { port: 0 },
  )
  onTestFinished(close)
  const { origin } = new URL(urls['/a'] ?? '')
  for (const name of ['a', 'b']) {
    const refused = await fetch(urls[`/${name}`] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request(1, 'tools/list')),
    })
    // Without a session it is told that first; the handshake is public.
    expect([400, 401]).toContain(refused.status)
    const page = await fetch(`${origin}/.well-known/oauth-protected-resource/${name}/mcp`)
    expect(await page.json()).toMatchObject({ resource: `https://mcp.example.com/${name}/mcp` })
  }
  // It would be ambiguous.
  expect((await fetch(`${origin}/.well-known/oauth-protected-resource`)).status).toBe(404)
})

test('health is reported for each below its path, and for all at the root', async () => {
  const healthy = createServer(named('a'), { use: [health()] })
  const other = createServer(named('b'), { use: [health()] })
  const { urls, close } = await serveMany({ '/a': { server: healthy }, '/b': { server: other } }, { port: 0 })
  onTestFinished(close)
  const { origin } = new URL(urls['/a'] ?? '')
  const statusAt = async (path: string): Promise<number> => (await fetch(origin + path)).status
  for (const path of ['/a/readyz', '/b/readyz', '/readyz', '/healthz', '/a/healthz'])
    expect(await statusAt(path)).toBe(200)
  await other.close()
  expect(await statusAt('/b/readyz')).toBe(503)
  expect(await statusAt('/a/readyz')).toBe(200)
  expect(await statusAt('/readyz')).toBe(503)
})

test('the health of a single server with a path is at the root too', async () => {
  const { urls, close } = await serveMany({ '/a': { server: named('a'), use: [health()] } }, { port: 0 })
  onTestFinished(close)
  const { origin } = new URL(urls['/a'] ?? '')
  for (const path of ['/healthz', '/readyz', '/a/healthz']) expect((await fetch(origin + path)).status).toBe(200)
})

test('one admission control counts for all of them', async () => {
  const entered = Promise.withResolvers<void>()
  const held = Promise.withResolvers<string>()
  const slow = defineServer({
    name: 'slow',
    version: '1',
    tools: [
      tool({
        name: 'slow',
        description: 'Runs until it is released',
        run() {
          entered.resolve()
          return held.promise
        },
      }),
    ],
  })
  const { urls, close } = await serveMany(
    {
      '/slow': { server: createServer(slow), sessions: false },
      '/b': { server: createServer(named('b')), sessions: false },
    },
    { port: 0, admission: admission({ concurrency: 1, queue: 0 }) },
  )
  onTestFinished(close)
  const call = (base: string, name: string): Promise<Response> =>
    fetch(urls[base] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request(1, 'tools/call', { name, arguments: {} })),
    })
  const first = call('/slow', 'slow')
  await entered.promise
  expect((await call('/b', 'who')).status).toBe(503)
  held.resolve('done')
  expect((await first).status).toBe(200)
  expect((await call('/b', 'who')).status).toBe(200)
})

test('two servers cannot have one path, and a path has one spelling', async () => {
  const server = createServer(named('a'))
  const refused: readonly { readonly [base: string]: { server: typeof server; path?: string } }[] = [
    { '/a/': { server } },
    { a: { server } },
    { '/a b': { server } },
    { '/a': { server, path: '/b/mcp' }, '/a/b': { server } },
  ]
  for (const sites of refused) await expect(serveMany(sites, { port: 0 })).rejects.toThrow(TypeError)
})
