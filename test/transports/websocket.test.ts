/** WebSocket as its clients use it: the official ones, ours, and `ws` for what those hide. */

import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Layer } from 'sluice'
import { authenticate, defineServer, tool } from 'sluice'
import type { HttpServing } from 'sluice/node'
import { createServer, serveHttp } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import type { SocketOptions } from 'sluice/websocket'
import { websocket } from 'sluice/websocket'
import { webSocketTransport } from 'sluice/websocket-client'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { callOf, initialize, request } from '../kit/clients/valid-messages.ts'
import type { AttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

type ServerOptions = Parameters<typeof createAttackedServer>[0]
interface Served extends AttackedServer {
  readonly serving: HttpServing
  readonly url: string
}
async function serve(runtime?: ServerOptions, options: SocketOptions = {}): Promise<Served> {
  const all = createAttackedServer(runtime)
  const serving = await serveHttp(all.server, { port: 0, websocket: websocket(options) })
  onTestFinished(() => serving.close())
  return { ...all, serving, url: `ws://127.0.0.1:${new URL(serving.url).port}/ws` }
}

interface Socket {
  readonly ws: WebSocket
  send(message: unknown): void
  /** The next message that came, parsed. */
  next(): Promise<{ readonly [key: string]: unknown }>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}
async function open(url: string, headers: { readonly [name: string]: string } = {}): Promise<Socket> {
  const ws = new WebSocket(url, 'mcp', { headers })
  onTestFinished(() => ws.terminate())
  const came: string[] = []
  const waiting: ((text: string) => void)[] = []
  ws.on('message', (data: Buffer) => {
    const first = waiting.shift()
    if (first) first(data.toString())
    else came.push(data.toString())
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await new Promise<void>((resolve, reject) => {
    ws.on('open', resolve)
    ws.on('error', reject)
  })
  return {
    ws,
    send: (message) => ws.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next() {
      const first = came.shift()
      return JSON.parse(first ?? (await new Promise<string>((resolve) => waiting.push(resolve))))
    },
    closed,
  }
}
/** The status with which an upgrade is refused. */
const refusal = (url: string, headers: { readonly [name: string]: string }, protocols = ['mcp']): Promise<number> =>
  new Promise((resolve, reject) => {
    const ws = new WebSocket(url, protocols, { headers })
    ws.on('unexpected-response', (_, response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    ws.on('open', () => {
      ws.terminate()
      reject(new Error('Opened'))
    })
    ws.on('error', () => {})
  })

test('the official client of v1 is served', async () => {
  const { url } = await serve()
  const client = new Client({ name: 'old', version: '1' })
  await client.connect(new WebSocketClientTransport(new URL(url)) as Transport)
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
  expect(result.content).toEqual([{ type: 'text', text: 'hello' }])
})

test('our transport carries the official client of v1', async () => {
  const { url } = await serve()
  const client = new Client({ name: 'old', version: '1' })
  await client.connect(webSocketTransport(url) as Transport)
  onTestFinished(() => client.close())
  expect(client.getServerVersion()).toMatchObject({ name: 'attacked' })
})

test.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)('our transport carries v2 in mode %j', async (mode) => {
  const { url } = await serve({ use: [authenticate({ verifiers: [verifier] })] })
  const client = new ClientV2({ name: 'new', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(webSocketTransport(url, { token: 'good-ann' }))
  onTestFinished(() => client.close())
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'legacy' ? '2025-11-25' : '2026-07-28')
  const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
  expect(result.content).toEqual([{ type: 'text', text: 'hello' }])
})

test('both eras share one socket', async () => {
  const { url } = await serve()
  const socket = await open(url)
  socket.send(callOf('new', 'echo', { text: 'modern' }))
  expect(await socket.next()).toMatchObject({ id: 'new', result: { resultType: 'complete' } })
  socket.send(initialize('2025-03-26'))
  expect(await socket.next()).toMatchObject({ result: { protocolVersion: '2025-03-26' } })
  socket.send([request(1, 'ping'), request(2, 'ping')])
  expect(await socket.next()).toHaveLength(2)
})

test('an upgrade is refused before it happens: origin, host, subprotocol, credentials', async () => {
  const { url } = await serve({ use: [authenticate({ verifiers: [verifier] })] })
  const good = { authorization: 'Bearer good-ann' }
  expect(await refusal(url, { ...good, origin: 'https://evil.example' })).toBe(403)
  expect(await refusal(url, { ...good, origin: 'https://evil.example', cookie: 'session=1' })).toBe(403)
  expect(await refusal(url, { ...good, host: 'evil.example' })).toBe(403)
  expect(await refusal(url, good, ['graphql-ws'])).toBe(400)
  expect(await refusal(url, good, [])).toBe(400)
  expect(await refusal(url, {})).toBe(401)
  expect(await refusal(url, { authorization: 'Bearer bad' })).toBe(401)
  expect(await refusal(url, {}, ['mcp', 'mcp.bearer.bad'])).toBe(401)
  expect(await refusal(url.replace('/ws', '/wss'), good)).toBe(404)
  const { ws } = await open(url, good)
  expect(ws.protocol).toBe('mcp')
})

test('layers and tools do not see the token, however the client sent it', async () => {
  const seen: (string | undefined)[] = []
  const look: Layer = (next) => (call) => {
    for (const name of ['authorization', 'sec-websocket-protocol', 'Sec-WebSocket-Protocol'])
      seen.push(call.via.header(name))
    return next(call)
  }
  const { url } = await serve({ use: [authenticate({ verifiers: [verifier] }), customLayer(look)] })
  const ws = new WebSocket(url, ['mcp', 'mcp.bearer.good-ann'])
  onTestFinished(() => ws.terminate())
  await new Promise((resolve) => ws.on('open', resolve))
  const answered = new Promise((resolve) => ws.on('message', resolve))
  ws.send(JSON.stringify(callOf(1, 'echo', { text: 'hello' })))
  await answered
  expect(seen).toEqual([undefined, undefined, undefined])
})

test('a plain request to it is told to upgrade', async () => {
  const { url } = await serve()
  expect((await fetch(url.replace('ws:', 'http:'))).status).toBe(426)
})

test('a socket ends with its credential', async () => {
  const clock = fakeClock()
  const { url } = await serve({ clock, use: [authenticate({ verifiers: [verifier] })] })
  const socket = await open(url, { authorization: `Bearer good-ann-${clock.now() + 5_000}` })
  socket.send(request(1, 'ping'))
  await socket.next()
  await clock.advance(5_000)
  expect(await socket.closed).toMatchObject({ code: 3000 })
})

test('a client that does not answer pings is disconnected, an idle one closed, and a waiting one kept', async () => {
  const clock = fakeClock()
  const { url, runs } = await serve({ clock }, { pingMs: 1_000, idleMs: 2_500 })
  const deaf = new WebSocket(url, 'mcp', { autoPong: false })
  const cut = new Promise<number>((resolve) => deaf.on('close', resolve))
  await new Promise((resolve) => deaf.on('open', resolve))
  const idle = await open(url)
  const waiting = await open(url)
  waiting.send(callOf('w', 'wait'))
  await expect.poll(() => runs.get('wait')).toBe(1)
  const pinged = (): Promise<unknown> =>
    Promise.all([idle, waiting].map(({ ws }) => new Promise((resolve) => ws.once('ping', resolve))))
  const roundTrip = ({ ws }: Socket): Promise<unknown> =>
    new Promise((resolve) => {
      ws.once('pong', resolve)
      ws.ping()
    })
  for (let second = 0; second < 2; second++) {
    const both = pinged()
    await clock.advance(1_000)
    await both
    // A round trip on each, so that its pong has arrived before the next ping.
    await Promise.all([idle, waiting].map(roundTrip))
  }
  expect(await cut).toBe(1006)
  await clock.advance(1_000)
  expect(await idle.closed).toMatchObject({ code: 1000 })
  waiting.send(callOf('last', 'echo', { text: 'x' }))
  expect(await waiting.next()).toMatchObject({ id: 'last' })
})

test('a message above the limit closes the socket with 1009', async () => {
  const { url, runs } = await serve(undefined, { maxPayload: 1000 })
  const socket = await open(url)
  socket.send(callOf(1, 'echo', { text: 'x'.repeat(1000) }))
  expect(await socket.closed).toMatchObject({ code: 1009 })
  expect(runs.get('echo')).toBeUndefined()
})

test('a binary frame closes the socket with 1003', async () => {
  const { url, runs } = await serve()
  const socket = await open(url)
  socket.ws.send(Buffer.from(JSON.stringify(callOf(1, 'echo', { text: 'x' }))))
  expect(await socket.closed).toMatchObject({ code: 1003 })
  expect(runs.get('echo')).toBeUndefined()
})

test('a socket that closes ends its calls', async () => {
  const { url, runs } = await serve()
  const socket = await open(url)
  socket.send(callOf(1, 'wait'))
  await expect.poll(() => runs.get('wait')).toBe(1)
  socket.ws.terminate()
  await expect.poll(() => runs.get('wait stopped')).toBe(1)
})

test('when the server closes, sockets get a close frame', async () => {
  const { url, serving } = await serve()
  const socket = await open(url)
  await serving.close()
  expect(await socket.closed).toMatchObject({ code: 1001 })
})

test('a draining server closes idle sockets, and the others finish their calls', async () => {
  const clock = fakeClock()
  const held = Promise.withResolvers<string>()
  const entered = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'Runs until it is released',
    run() {
      entered.resolve()
      return held.promise
    },
  })
  const server = createServer(defineServer({ name: 'slow', version: '1', tools: [slow] }), { clock })
  const serving = await serveHttp(server, { port: 0, websocket: websocket() })
  const url = serving.url.replace('http', 'ws').replace(/mcp$/, 'ws')
  const [quiet, busy] = [await open(url), await open(url)]
  busy.send(callOf(1, 'slow'))
  await entered.promise
  const drained = serving.drain({ noticeMs: 1_000, graceMs: 10_000 })
  await clock.advance(1_000)
  expect(await quiet.closed).toMatchObject({ code: 1001 })
  held.resolve('done')
  expect(await busy.next()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
  // It checks periodically whether all is finished.
  await clock.advance(1_000)
  expect(await busy.closed).toMatchObject({ code: 1001 })
  await drained
})
