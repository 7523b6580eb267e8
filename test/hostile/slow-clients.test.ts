/**
 * Clients that start and never finish, or ask and never read, on every entry point of every deployment: they are
 * disconnected, and no other client waits for them.
 */

import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RawHttp } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { frameOf, rawSocket, upgradeHeaders } from '../kit/clients/raw-websocket.client.ts'
import { openEventStream, openSocket } from '../kit/clients/streaming.client.ts'
import { callOf, headersFor, initialize, request } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import type { DeployedServer } from '../kit/servers/deployments.ts'
import { deployments } from '../kit/servers/deployments.ts'

const each = deployments.map((place) => ({ ...place, name: place.nameOf('a server') }))
const call = callOf(1, 'echo', { text: 'a' })

/** Beginnings of a POST. */
function posts(port: number, path: string): readonly string[] {
  const fields = { host: `127.0.0.1:${port}`, 'content-type': 'application/json', ...headersFor(call) }
  const head = requestHead({ ...fields, 'content-length': '100' }, { path })
  const chunked = requestHead({ ...fields, 'transfer-encoding': 'chunked' }, { path })
  return [
    `POST ${path} HTT`,
    head.slice(0, -4),
    head,
    `${head}{"jsonrpc"`,
    `${chunked}ff\r\n{`,
    `${chunked}4\r\n{"a"\r\n`,
  ]
}
const gets = (port: number, path: string): readonly string[] => {
  const fields = { host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...Object.fromEntries(upgradeHeaders) }
  const head = requestHead(fields, { method: 'GET', path })
  return [head.slice(0, 9), head.slice(0, -2)]
}

async function opened(port: number, bytes: string | Buffer): Promise<RawHttp> {
  const http = await rawHttp(port)
  http.write(bytes)
  onTestFinished(http.destroy)
  return http
}
async function expectServed({ port, endpoint }: DeployedServer): Promise<void> {
  const http = await opened(port, toPost(port, JSON.stringify(call), headersFor(call), endpoint))
  expect((await http.next()).status).toBe(200)
}

describe.each(each)('$name', ({ open, node: sockets }) => {
  test('a client that never finishes a head, a body or a chunk is disconnected, and a stream beside it is not', async () => {
    const standing = await open(createAttackedServer().server)
    onTestFinished(standing.close)
    const { port, node, endpoint, base } = standing
    const origin = `http://127.0.0.1:${port}`
    const stream = await openEventStream(`${origin}${base}/sse`)
    onTestFinished(stream.close)
    const messages = await stream.endpoint
    const beginnings = [
      '',
      ...posts(port, endpoint),
      ...gets(port, `${base}/sse`),
      ...posts(port, messages),
      ...gets(port, `${base}/ws`),
    ]
    const slow = await Promise.all([...beginnings, ...beginnings, ...beginnings].map((bytes) => opened(port, bytes)))
    await expectServed(standing)
    // Only now, and only for them, because an honest client may be slow on a busy machine.
    const previous = [node.headersTimeout, node.requestTimeout] as const
    ;[node.headersTimeout, node.requestTimeout] = [1, 1]
    await Promise.all(slow.map(({ closed }) => closed))
    ;[node.headersTimeout, node.requestTimeout] = previous
    await expectServed(standing)
    await opened(port, toPost(port, JSON.stringify(request(2, 'ping')), {}, messages))
    expect(await stream.next()).toMatchObject({ id: 2, result: {} })
  })

  test('a client that stops reading an event stream is disconnected', async () => {
    const { server } = createAttackedServer()
    const standing = await open(server)
    onTestFinished(standing.close)
    const { port, node, endpoint, base } = standing
    const handshake = await opened(port, toPost(port, JSON.stringify(initialize()), {}, endpoint))
    const session = { 'mcp-session-id': String((await handshake.next()).headers.get('mcp-session-id')) }
    const subscribe = JSON.stringify(request(1, 'resources/subscribe', { uri: 'note://plain' }))
    handshake.write(toPost(port, subscribe, session, endpoint))
    await handshake.next()
    const fields = { host: `127.0.0.1:${port}`, accept: 'text/event-stream' }
    const own = await opened(port, requestHead({ ...fields, ...session }, { method: 'GET', path: endpoint }))
    await own.seen(/text\/event-stream/)
    const old = await opened(port, requestHead(fields, { method: 'GET', path: `${base}/sse` }))
    const messages = /data: (\S+)/.exec(await old.seen(/data: \S+\n\n/))?.[1] ?? ''
    for (const message of [JSON.stringify(initialize()), subscribe]) {
      const post = await opened(port, toPost(port, message, {}, messages))
      expect((await post.next()).status).toBe(202)
      post.destroy()
    }
    await old.seen(/"id":1[,}]/)
    for (const { socket } of [own, old]) socket.pause()
    await new Promise<void>((resolve) => {
      const look = (): void => {
        node.getConnections((_, open) => (open <= 1 ? resolve() : flood()))
      }
      const flood = (): void => {
        for (let event = 0; event < 2000; event++) server.resourceUpdated('note://plain')
        setImmediate(look)
      }
      flood()
    })
    // The session lives on, and so do all others.
    const again = await opened(port, toPost(port, JSON.stringify(request(2, 'ping')), session, endpoint))
    expect((await again.next()).status).toBe(200)
  })

  if (!sockets) return
  test('a client that never finishes a frame or a message is disconnected, and a socket beside it is not', async () => {
    const clock = fakeClock()
    const standing = await open(createAttackedServer({ clock }).server)
    onTestFinished(standing.close)
    const { port, base } = standing
    const frame = frameOf(JSON.stringify(call))
    const beginnings = [
      Buffer.alloc(0),
      frame.subarray(0, 1),
      frame.subarray(0, 5),
      frame.subarray(0, -1),
      frameOf('{', { final: false }),
    ]
    const slow = await Promise.all(
      beginnings.map(async (bytes) => {
        const { http } = await rawSocket(port, [['host', `127.0.0.1:${port}`]], `${base}/ws`)
        onTestFinished(http.destroy)
        http.write(bytes)
        return http
      }),
    )
    const healthy = await openSocket(`ws://127.0.0.1:${port}${base}/ws`)
    onTestFinished(() => healthy.ws.terminate())
    const asked = new Promise((resolve) => healthy.ws.once('ping', resolve))
    const expectHealthy = async (): Promise<void> => {
      healthy.ws.send(JSON.stringify(call))
      expect(await healthy.next()).toMatchObject({ id: 1, result: {} })
    }
    await clock.advance(30_000)
    await asked
    await expectHealthy()
    await clock.advance(30_000)
    await Promise.all(slow.map(({ closed }) => closed))
    await expectHealthy()
  })
})
