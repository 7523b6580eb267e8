/** Frames that no proper client would send, readers that stall, and every kind of disconnect. */

import { defineServer, tool } from 'sluice'
import type { TransportServer } from 'sluice/extend'
import { toTransportServer } from 'sluice/extend'
import { createServer, serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { fakeClock } from 'sluice/testing'
import { websocket } from 'sluice/websocket'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { RawHttp } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { closeCode, frameOf, rawSocket, upgradeHeaders } from '../kit/clients/raw-websocket.client.ts'
import { openSocket } from '../kit/clients/streaming.client.ts'
import { callOf, headersFor, initialize, request } from '../kit/clients/valid-messages.ts'
import type { AttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { serveEdgeSockets } from '../kit/servers/edge-websockets.fixture.ts'
import { mountKinds } from '../kit/servers/mounts.ts'

type Server = AttackedServer['server']
interface Watched {
  readonly server: TransportServer
  /** Connections that were opened and not yet closed. */
  open(): number
}

/** A server that counts its connections. */
function watched(server: Server): Watched {
  const made: { readonly closed: boolean }[] = []
  return {
    server: {
      ...toTransportServer(server),
      attach(connection, send) {
        made.push(connection)
        return toTransportServer(server).attach(connection, send)
      },
    },
    open: () => made.filter(({ closed }) => !closed).length,
  }
}

const kinds = [
  {
    name: 'on Node',
    async open(server: Server): Promise<{ readonly port: number; close(): Promise<void> }> {
      const serving = await serveHttp(server, { port: 0, websocket: websocket() })
      return { port: Number(new URL(serving.url).port), close: serving.close }
    },
  },
  { name: 'on the edge', open: serveEdgeSockets },
]

describe.each(kinds)('a WebSocket $name', ({ open: serve }) => {
  const { server, runs } = createAttackedServer()
  const { server: counted, open } = watched(server)
  let serving: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    serving = await serve(counted)
  })
  afterAll(() => serving.close())
  const socket = async (): Promise<RawHttp> => {
    const { http, response } = await rawSocket(serving.port)
    onTestFinished(http.destroy)
    expect(response.status).toBe(101)
    return http
  }
  const call = JSON.stringify(callOf(1, 'echo', { text: 'a' }))

  test.each([
    ['a frame of 5 MB', frameOf(Buffer.alloc(5 * 1024 * 1024, 'x')), 1009],
    ['a frame that claims to have 2^62 bytes', Buffer.from('81ff4000000000000000', 'hex'), 1009],
    ['a frame without a mask', frameOf(call, { masked: false }), 1002],
    ['a frame of an unknown kind', frameOf(call, { opcode: 3 }), 1002],
    ['a fragmented control frame', frameOf('', { opcode: 9, final: false }), 1002],
    ['a ping that is too long', frameOf('x'.repeat(126), { opcode: 9 }), 1002],
    ['a continuation without a message', frameOf(call, { opcode: 0 }), 1002],
    ['text that is not UTF-8', frameOf(Buffer.from([0xff, 0xfe])), 1007],
    ['a binary frame', frameOf(call, { opcode: 2 }), 1003],
    ['reserved bits', Buffer.concat([Buffer.from([0xf1]), frameOf(call).subarray(1)]), 1002],
  ])('%s closes it, and nothing runs', async (_, bytes, code) => {
    const http = await socket()
    http.write(bytes)
    // A client that does not answer the close frame is disconnected all the same.
    expect(await closeCode(http)).toBe(code)
    expect(runs.get('echo')).toBeUndefined()
    await expect.poll(open).toBe(0)
  })

  test('a flood of pings closes it', async () => {
    const http = await socket()
    http.write(Buffer.concat(Array.from({ length: 100_000 }, () => frameOf('', { opcode: 9 }))))
    expect(await closeCode(http)).toBe(1008)
    await expect.poll(open).toBe(0)
  })

  test('a message in a hundred thousand fragments closes it', async () => {
    const http = await socket()
    const pieces = Array.from({ length: 100_000 }, (_, at) => frameOf('x', { opcode: at === 0 ? 1 : 0, final: false }))
    http.write(Buffer.concat(pieces))
    expect(await closeCode(http)).toBe(1008)
    await expect.poll(open).toBe(0)
  })

  test('a message in a few fragments is one message', async () => {
    const http = await socket()
    const ping = JSON.stringify(request(9, 'ping'))
    http.write(
      Buffer.concat([
        frameOf(ping.slice(0, 5), { final: false }),
        frameOf('', { opcode: 9 }),
        frameOf(ping.slice(5), { opcode: 0 }),
      ]),
    )
    await http.seen(/"id":9/)
  })

  test('a client that disconnects in the middle of a frame leaves nothing behind', async () => {
    const http = await socket()
    http.write(frameOf(call).subarray(0, 20))
    http.socket.resetAndDestroy()
    await expect.poll(open).toBe(0)
    expect(runs.get('echo')).toBeUndefined()
  })
})

describe.each([
  { name: 'a port', open: (server: Server) => serveHttp(server, { port: 0, websocket: websocket() }) },
  ...mountKinds
    .filter(({ sockets }) => sockets)
    .map(({ name, open }) => ({ name, open: (server: Server) => open(server, { websocket: websocket() }) })),
])('on $name', ({ open }) => {
  test.each(['/ws', '/other'])(
    'an upgrade of %s that is sent before the answer to a call closes the connection',
    async (below) => {
      const { server, runs } = createAttackedServer()
      const serving = await open(server)
      onTestFinished(() => serving.close())
      const { port, pathname } = new URL(serving.url)
      const http = await rawHttp(Number(port))
      onTestFinished(http.destroy)
      const path = pathname.replace(/\/mcp$/, pathname === '/mcp' ? below : `/mcp${below}`)
      const upgrade = requestHead([['host', `127.0.0.1:${port}`], ...upgradeHeaders], { method: 'GET', path })
      const call = callOf(1, 'wait')
      // With a header for which `node:http` reads the connection. Otherwise the upgrade would wait for the answer.
      const headers = { ...headersFor(call), te: 'trailers' }
      http.write(toPost(Number(port), JSON.stringify(call), headers, pathname))
      await expect.poll(() => runs.get('wait')).toBe(1)
      http.write(upgrade)
      await http.closed
      expect(http.partial).toBe('')
      await expect.poll(() => runs.get('wait stopped')).toBe(1)
    },
  )
})

test.each(kinds)(
  'above the limit a request is refused by its id, and pings and cancellations are processed, $name',
  async ({ open: serve }) => {
    const { server, runs } = createAttackedServer()
    const serving = await serve(server)
    onTestFinished(serving.close)
    const { http } = await rawSocket(serving.port)
    onTestFinished(http.destroy)
    const calls = Array.from({ length: 101 }, (_, id) => frameOf(JSON.stringify(callOf(id, 'wait'))))
    http.write(Buffer.concat(calls))
    expect(await http.seen(/"id":100,"error".*Too many requests/)).not.toMatch(/"id":\d?\d[,}]/)
    expect(runs.get('wait')).toBe(100)
    http.write(frameOf(JSON.stringify(request('there?', 'ping'))))
    await http.seen(/"id":"there\?","result":\{/)
    http.write(frameOf('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'))
    await expect.poll(() => runs.get('wait stopped')).toBe(1)
    http.write(frameOf(JSON.stringify(callOf('room', 'echo', { text: 'again' }))))
    await http.seen(/"text":"again"/)
  },
)

test.each(kinds)('a hundred calls that ask a question at once are all answered, $name', async ({ open: serve }) => {
  const { server, runs } = createAttackedServer()
  const serving = await serve(server)
  onTestFinished(serving.close)
  const socket = await openSocket(`ws://127.0.0.1:${serving.port}/ws`)
  onTestFinished(() => socket.ws.terminate())
  const say = (message: object): void => socket.ws.send(JSON.stringify(message))
  const hello = initialize()
  say({ ...hello, params: { ...(hello['params'] as object), capabilities: { elicitation: { form: {} } } } })
  await socket.next()
  for (let id = 0; id < 100; id++) say(request(id, 'tools/call', { name: 'asks', arguments: {} }))
  for (let answered = 0; answered < 100; ) {
    const message = await socket.next()
    if (message['method'] === 'elicitation/create')
      say({ jsonrpc: '2.0', id: message['id'], result: { action: 'accept', content: { region: 'eu' } } })
    else {
      expect(message).toMatchObject({ result: { isError: false } })
      answered++
    }
  }
  expect(runs.get('asks')).toBe(100)
})

test.each(kinds)('a reader that stalls is disconnected, $name', async ({ open: serve }) => {
  const long = 'x'.repeat(200_000)
  const clock = fakeClock()
  const { server, open } = watched(
    createServer(
      defineServer({
        name: 'long',
        version: '1',
        tools: [tool({ name: 'long', description: 'A long text', run: () => long })],
      }),
      { clock },
    ),
  )
  const serving = await serve(server)
  onTestFinished(serving.close)
  const { http } = await rawSocket(serving.port)
  onTestFinished(http.destroy)
  http.socket.pause()
  // Far more than the kernel buffers for a connection.
  for (let id = 0; id < 300 && open() > 0; id++) {
    http.write(frameOf(JSON.stringify(callOf(id, 'long'))))
    await new Promise(setImmediate)
  }
  // On Node by the time without progress; elsewhere by the number of bytes.
  while (open() > 0) await clock.advance(1_000)
})

describe('clients disconnect in every way', () => {
  const { server, runs } = createAttackedServer()
  const { server: counted, open } = watched(server)
  let serving: Awaited<ReturnType<typeof serveHttp>>
  let port = 0
  beforeAll(async () => {
    serving = await serveHttp(counted, { port: 0, sse: sse(), websocket: websocket() })
    port = Number(new URL(serving.url).port)
  })
  afterAll(() => serving.close())

  const get = (path: string): string =>
    requestHead({ host: `127.0.0.1:${port}`, accept: 'text/event-stream' }, { method: 'GET', path })
  /** The state of each transport when its client disconnects. */
  const moments: readonly (readonly [string, () => Promise<RawHttp>])[] = [
    ['in the middle of a head', async () => at('POST /mcp HTTP/1.1\r\nHost: 127')],
    ['in the middle of a body', async () => at(toPost(port, JSON.stringify(initialize())).subarray(0, -10))],
    ['while a call runs', async () => at(toPost(port, JSON.stringify(callOf(1, 'wait')), waiting))],
    ['with a stream of HTTP+SSE', async () => after(await at(get('/sse')), /event: endpoint/)],
    ['before a socket is one', async () => at(get('/ws').slice(0, -2))],
    ['with a socket', async () => (await rawSocket(port)).http],
    [
      'with a socket in the middle of a frame',
      async () => {
        const { http } = await rawSocket(port)
        http.write(frameOf('x'.repeat(1000)).subarray(0, 500))
        return http
      },
    ],
  ]
  const waiting = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' }
  async function at(bytes: string | Buffer): Promise<RawHttp> {
    const http = await rawHttp(port)
    http.write(bytes)
    return http
  }
  async function after(http: RawHttp, pattern: RegExp): Promise<RawHttp> {
    await http.seen(pattern)
    return http
  }
  const disconnects: readonly (readonly [string, (http: RawHttp) => void])[] = [
    ['FIN', ({ socket }) => socket.end()],
    ['RST', ({ socket }) => socket.resetAndDestroy()],
    [
      'half-close, then nothing',
      ({ socket }) => {
        socket.end(() => setImmediate(() => socket.destroy()))
      },
    ],
    ['FIN behind more bytes', ({ socket }) => socket.end('\0\0\0\0')],
  ]
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) =>
      serving.server.getConnections((problem, count) => (problem ? reject(problem) : resolve(count))),
    )

  test.each(moments.flatMap(([moment, begin]) => disconnects.map(([way, leave]) => ({ moment, way, begin, leave }))))(
    '$moment: $way',
    async ({ begin, leave }) => {
      const clients = await Promise.all(Array.from({ length: 10 }, begin))
      for (const client of clients) leave(client)
      await expect.poll(open, { timeout: 20_000 }).toBe(0)
      for (const client of clients) client.destroy()
      await expect.poll(connections, { timeout: 20_000 }).toBe(0)
      await expect.poll(() => runs.get('wait stopped') ?? 0, { timeout: 20_000 }).toBe(runs.get('wait') ?? 0)
    },
  )
})
