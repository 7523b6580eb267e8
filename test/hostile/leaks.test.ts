/**
 * Whatever a client does and however it disconnects, nothing of it stays: connections, calls, streams, sessions,
 * timers.
 */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Params, Server } from 'sluice'
import { defineServer, tool } from 'sluice'
import type { TransportServer } from 'sluice/extend'
import { toTransportServer } from 'sluice/extend'
import type { HttpServing } from 'sluice/node'
import { createServer, serveHttp, sessions } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { connect } from '../../packages/sluice/src/protocol/connect.ts'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import type { RawHttp } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, initialize, modernRequest, request } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

const silent = { info() {}, warn() {}, error() {} }

type Connection = ReturnType<typeof connect>

/** The same server, and every connection to it. */
function watched(server: Server): {
  readonly server: TransportServer
  readonly connections: Connection[]
  open(): readonly Connection[]
} {
  const connections: Connection[] = []
  return {
    server: {
      ...toTransportServer(server),
      attach(connection, send) {
        connections.push(connection)
        return toTransportServer(server).attach(connection, send)
      },
    },
    connections,
    open: () => connections.filter(({ closed }) => !closed),
  }
}

const openSockets = (serving: HttpServing): Promise<number> =>
  new Promise((resolve, reject) =>
    serving.server.getConnections((error, sockets) => (error ? reject(error) : resolve(sockets))),
  )

function collected(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** Repeats that often, with many at a time. */
async function repeat(times: number, atOnce: number, each: (turn: number) => Promise<void>): Promise<void> {
  let turn = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (turn < times) await each(turn++)
    }),
  )
}

const whenClosed = (socket: Socket): Promise<unknown> => (socket.destroyed ? Promise.resolve() : once(socket, 'close'))

describe('over HTTP', () => {
  const echo = callOf(1, 'echo', { text: 'a' })
  const wait = callOf(1, 'wait')
  const post = (port: number, message: Params): Buffer => toPost(port, JSON.stringify(message), headersFor(message))

  /** Every way to connect and disconnect. `met` is called when the server has noticed the client. */
  const visits: { readonly [way: string]: (port: number, http: RawHttp) => Promise<void> } = {
    'FIN at once': async (_, { socket }) => {
      socket.end()
    },
    'RST at once': async (_, { socket }) => {
      socket.resetAndDestroy()
    },
    'FIN after an answer': async (port, http) => {
      http.write(post(port, echo))
      await http.next()
      http.socket.end()
    },
    'RST after an answer': async (port, http) => {
      http.write(post(port, echo))
      await http.next()
      http.socket.resetAndDestroy()
    },
    'half-closed before the answer, which still comes': async (port, http) => {
      http.socket.end(post(port, echo))
      expect((await http.next()).status).toBe(200)
    },
    'FIN in the middle of the head': async (_, http) => {
      http.socket.end('POST /mcp HTTP/1.1\r\nHos')
    },
    'RST in the middle of the head': async (_, http) => {
      http.write('POST /mcp HTTP/1.1\r\nHos')
      await new Promise(setImmediate)
      http.socket.resetAndDestroy()
    },
    'FIN in the middle of the body': async (port, http) => {
      http.socket.end(post(port, echo).subarray(0, -10))
    },
    'RST in the middle of the body': async (port, http) => {
      http.write(post(port, echo).subarray(0, -10))
      await new Promise(setImmediate)
      http.socket.resetAndDestroy()
    },
    'RST in the middle of a chunk': async (port, http) => {
      http.write(
        `${requestHead({ host: `127.0.0.1:${port}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' })}ff\r\n{"jsonrpc"`,
      )
      await new Promise(setImmediate)
      http.socket.resetAndDestroy()
    },
    'RST in the middle of a body that was refused': async (port, http) => {
      http.write(
        requestHead({ host: `127.0.0.1:${port}`, 'content-type': 'application/json', 'content-length': '99999999' }),
      )
      expect((await http.next()).status).toBe(413)
      http.write('x'.repeat(1000))
      http.socket.resetAndDestroy()
    },
    'RST before the answers to many': async (port, http) => {
      http.write(Buffer.concat(Array.from({ length: 20 }, () => post(port, echo))))
      await new Promise(setImmediate)
      http.socket.resetAndDestroy()
    },
    'no HTTP at all': async (_, http) => {
      http.write('\x16\x03\x01\x00\xff garbage\r\n\r\n')
      await http.closed
    },
    'RST in the middle of a call': async (port, http) => {
      http.write(post(port, wait))
      await new Promise(setImmediate)
      http.socket.resetAndDestroy()
    },
    'RST in the middle of a stream': async (port, http) => {
      const listen = modernRequest(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
      http.write(post(port, listen))
      await http.seen(/acknowledged/)
      http.socket.resetAndDestroy()
    },
  }

  test('thousands of clients leave no socket, no call, no stream, no timer', { timeout: 90_000 }, async () => {
    const clock = fakeClock()
    const { server, runs, log } = createAttackedServer({ clock })
    const serving = await serveHttp(server, { port: 0 })
    const port = Number(new URL(serving.url).port)
    const visitKinds = Object.values(visits)
    const visit = (turn: number): Promise<void> =>
      (async () => {
        const http = await rawHttp(port)
        await visitKinds[turn % visitKinds.length]?.(port, http)
        http.socket.resume()
        await whenClosed(http.socket)
      })()
    const settled = async (): Promise<void> => {
      await expect.poll(() => openSockets(serving)).toBe(0)
      await expect.poll(() => (runs.get('wait stopped') ?? 0) - (runs.get('wait') ?? 0)).toBe(0)
      // Closed streams are released with the next keep-alive, and with the last of them the timer.
      await clock.advance(60_000)
      expect(clock.pending).toBe(0)
    }
    await repeat(visitKinds.length * 20, 30, visit)
    await settled()
    const before = collected()
    await repeat(visitKinds.length * 200, 30, visit)
    await settled()
    expect(runs.get('wait')).toBeGreaterThan(0)
    expect(
      log.filter(({ method }) => method === 'subscriptions/listen').every(({ outcome }) => outcome === 'cancelled'),
    ).toBe(true)
    // 200 bytes per client would be 600 KB.
    expect(collected() - before).toBeLessThan(2 * 1024 * 1024)
    await serving.close()
  })

  test('every disconnect is noticed: a running stateless call is stopped', async () => {
    const { server, runs } = createAttackedServer()
    const serving = await serveHttp(server, { port: 0 })
    const port = Number(new URL(serving.url).port)
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      const started = runs.get('wait') ?? 0
      const http = await rawHttp(port)
      http.write(post(port, wait))
      await expect.poll(() => runs.get('wait')).toBe(started + 1)
      http.socket[leave]()
      await expect.poll(() => runs.get('wait stopped')).toBe(started + 1)
    }
    await serving.close()
  })

  test('sessions end by DELETE, by inactivity and with the server, and end their calls', {
    timeout: 60_000,
  }, async () => {
    const clock = fakeClock()
    const own = createAttackedServer({ clock })
    const { server, connections, open } = watched(own.server)
    const serving = await serveHttp(server, { port: 0, sessions: sessions({ idleMs: 60_000 }) })
    const port = Number(new URL(serving.url).port)
    const begin = async (http: RawHttp): Promise<{ readonly 'mcp-session-id': string }> => ({
      'mcp-session-id': String((await http.post(JSON.stringify(initialize()))).headers.get('mcp-session-id')),
    })
    const call = (name: string): string =>
      JSON.stringify(request(1, 'tools/call', { name, arguments: name === 'echo' ? { text: 'a' } : {} }))
    await repeat(600, 20, async (turn) => {
      const http = await rawHttp(port)
      const session = await begin(http)
      // A third with a stream, a third with a call that continues after its connection closes, a third with neither.
      if (turn % 3 === 0) {
        const stream = await rawHttp(port)
        stream.write(
          requestHead({ host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...session }, { method: 'GET' }),
        )
        await stream.seen(/event-stream/)
        stream.socket.resetAndDestroy()
      } else if (turn % 3 === 1) {
        http.write(toPost(port, call('wait'), session))
        await new Promise(setImmediate)
        http.socket.resetAndDestroy()
      } else expect((await http.post(call('echo'), session)).status).toBe(200)
      if (turn % 2 === 0) {
        const last = await rawHttp(port)
        last.write(requestHead({ host: `127.0.0.1:${port}`, ...session }, { method: 'DELETE' }))
        expect((await last.next()).status).toBe(204)
        last.destroy()
      }
      http.destroy()
    })
    expect(connections).toHaveLength(600)
    expect(open()).toHaveLength(300)
    await expect.poll(() => openSockets(serving)).toBe(0)
    // Calls of sessions continue without their connection until their deadline; then inactivity ends the session.
    await expect.poll(() => open().filter(({ inFlight }) => inFlight.size > 0).length).toBe(100)
    await clock.advance(30_000)
    expect(connections.filter(({ inFlight }) => inFlight.size > 0)).toEqual([])
    await clock.advance(180_000)
    expect(open()).toEqual([])
    expect(runsOf(own.runs)).toEqual({ wait: 200, stopped: 200 })
    expect(clock.pending).toBe(0)
    // And with the server.
    const http = await rawHttp(port)
    const session = await begin(http)
    const stream = await rawHttp(port)
    stream.write(requestHead({ host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...session }, { method: 'GET' }))
    await stream.seen(/event-stream/)
    http.write(toPost(port, call('wait'), session))
    await expect.poll(() => own.runs.get('wait')).toBe(201)
    const closing = serving.close()
    await stream.closed
    await closing
    expect(open()).toEqual([])
    expect(runsOf(own.runs)).toEqual({ wait: 201, stopped: 201 })
    expect(clock.pending).toBe(0)
    for (const each of [http, stream]) each.destroy()
  })

  const runsOf = (runs: ReadonlyMap<string, number>): Params => ({
    wait: runs.get('wait'),
    stopped: runs.get('wait stopped'),
  })

  test('failed handshakes leave no session', async () => {
    const { server, open } = watched(createAttackedServer().server)
    const serving = await serveHttp(server, { port: 0 })
    const http = await rawHttp(Number(new URL(serving.url).port))
    for (let turn = 0; turn < 200; turn++) {
      const refused = [
        { jsonrpc: '2.0', id: null, method: 'initialize' },
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: [] },
        { jsonrpc: '1.0', id: 1, method: 'initialize' },
        { jsonrpc: '2.0', method: 'initialize', params: {} },
        [initialize()],
      ]
      await http.post(JSON.stringify(refused[turn % refused.length]))
    }
    expect(open()).toEqual([])
    http.destroy()
    await serving.close()
  })

  test('closing the server does not wait for ever for a client that never finishes its request', async () => {
    const clock = fakeClock()
    const serving = await serveHttp(createAttackedServer({ clock }).server, { port: 0, closeWithinMs: 1000 })
    const port = Number(new URL(serving.url).port)
    const stuck = await Promise.all([1, 2, 3].map(() => rawHttp(port)))
    stuck[0]?.write('POST /mcp HTTP/1.1\r\nHos')
    stuck[1]?.write(post(port, echo).subarray(0, -10))
    await expect.poll(() => openSockets(serving)).toBe(3)
    const closing = serving.close()
    await expect.poll(() => clock.pending).toBe(1)
    await clock.advance(1000)
    await closing
    await Promise.all(stuck.map(({ closed }) => closed))
    for (const each of stuck) each.destroy()
  })
})

describe('on a connection', () => {
  /** Tools that end in every way, or never. */
  const tools = defineServer({
    name: 'ends',
    version: '1',
    tools: [
      tool({ name: 'fast', description: 'x', run: () => 'done' }),
      tool({ name: 'throws', description: 'x', run: () => Promise.reject(new Error('no')) }),
      tool({ name: 'deaf', description: 'x', timeoutMs: 1000, run: () => new Promise<string>(() => {}) }),
      tool({
        name: 'obeys',
        description: 'x',
        timeoutMs: 1000,
        run: (_, { signal }) =>
          new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      }),
      tool({
        name: 'late',
        description: 'x',
        timeoutMs: 1000,
        run: (_, { signal }) =>
          new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('too late'))),
      }),
    ],
  })
  const names = ['fast', 'throws', 'deaf', 'obeys', 'late']
  const setUp = (): {
    readonly clock: ReturnType<typeof fakeClock>
    readonly server: Server
    readonly connection: Connection
    call(id: number): Promise<unknown>
  } => {
    const clock = fakeClock()
    const server = createServer(tools, { clock, use: [log(silent)] })
    const connection = connect(server, { send() {} })
    const via = { transport: 'memory' as const, peer: 'test', header: () => undefined, connection }
    return {
      clock,
      server,
      connection,
      call: (id) => server.handle(callOf(id, names[id % names.length] ?? ''), { via }),
    }
  }
  const calls = 5000

  test('calls that ended, failed, timed out or never ended leave nothing behind', async () => {
    const { clock, connection, call } = setUp()
    const answers = Array.from({ length: calls }, (_, id) => call(id))
    // Those that waited for nothing have ended.
    expect(connection.inFlight.size).toBe((calls / names.length) * 4)
    await clock.advance(999)
    expect(connection.inFlight.size).toBe((calls / names.length) * 3)
    await clock.advance(1)
    const said = await Promise.all(answers)
    expect(said.every((answer) => answer !== null)).toBe(true)
    expect(connection.inFlight.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('cancelled calls leave nothing behind, and get no answer', async () => {
    const { clock, server, connection, call } = setUp()
    const via = { transport: 'memory' as const, peer: 'test', header: () => undefined, connection }
    const answers = Array.from({ length: calls }, (_, id) => call(id))
    await clock.advance(0)
    for (let id = 0; id < calls; id++)
      await server.handle({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }, { via })
    const said = await Promise.all(answers)
    expect(said.filter((answer) => answer !== null)).toHaveLength((calls / names.length) * 2)
    expect(connection.inFlight.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('a connection that closes ends its calls', async () => {
    const { clock, connection, call } = setUp()
    const answers = Array.from({ length: calls }, (_, id) => call(id))
    await clock.advance(0)
    connection.close()
    const said = await Promise.all(answers)
    expect(said.filter((answer) => answer !== null)).toHaveLength((calls / names.length) * 2)
    expect(connection.inFlight.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('thousands of stdio connections leave no connection and no timer', async () => {
    const clock = fakeClock()
    const own = createAttackedServer({ clock })
    const { server, open } = watched(own.server)
    await repeat(2000, 20, async (turn) => {
      const pipe = pipeTo(server)
      if (turn % 4 === 0) pipe.send(initialize())
      if (turn % 4 === 1) pipe.write('{"jsonrpc":"2.0","id":1,"meth')
      if (turn % 4 === 2) pipe.send(callOf(1, 'echo', { text: 'a' }))
      if (turn % 4 === 3) {
        pipe.send(callOf(1, 'wait'))
        pipe.output.destroy(new Error('EPIPE'))
      }
      pipe.end()
      await pipe.serving.closed
    })
    expect(open()).toEqual([])
    expect((own.runs.get('wait') ?? 0) - (own.runs.get('wait stopped') ?? 0)).toBe(0)
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })
})
