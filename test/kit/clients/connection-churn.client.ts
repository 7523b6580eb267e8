/** Every way to come and go that a client has, on raw sockets. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { envelope, toInitialize } from './envelope.ts'
import { jsonHeaders, modernHeaders } from './http-events.ts'
import type { Params } from './protocol.ts'

type Fields = { readonly [name: string]: string }

/** From one of many addresses: ports of one would run out while the kernel remembers them. */
export async function connectFrom(port: number, turn: number): Promise<Socket> {
  const localAddress = `127.0.${1 + (turn % 200)}.1`
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

export function requestText(port: number, method: string, path: string, fields: Fields, body = ''): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries({ host: `127.0.0.1:${port}`, ...fields, ...length })
  return `${method} ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
export function postText(port: number, message: Params, fields: Fields = {}): string {
  return requestText(port, 'POST', '/mcp', { ...jsonHeaders, ...fields }, JSON.stringify(message))
}
const modern = (method: string, params: Params, meta: Params = {}): Params => ({
  ...{ jsonrpc: '2.0', id: 1, method },
  params: { ...params, _meta: { ...envelope({}), ...meta } },
})
const post = (port: number, message: Params): string => postText(port, message, modernHeaders(message))
/** A call of a tool without arguments. */
export const toolCallText = (port: number, name: string): string =>
  post(port, modern('tools/call', { name, arguments: {} }))
const echo = modern('tools/call', { name: 'echo', arguments: { text: 'x' } })
const wait = modern('tools/call', { name: 'wait', arguments: {} }, { progressToken: 1 })
export const subscribeMessage: Params = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
export const floodMessage: Params = modern('tools/call', { name: 'flood', arguments: {} }, { progressToken: 1 })
export const initializeMessage: Params = {
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: toInitialize({ revision: '2025-11-25', capabilities: {} }),
}
const upgrade: Fields = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  ...{ 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-protocol': 'mcp' },
}
const events: Fields = { accept: 'text/event-stream' }

/** Until the answer has come this far, or will not. */
const receivedUntil = (socket: Socket, part: RegExp): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const hear = (piece: Buffer): void => {
      text += piece
      if (part.test(text)) end()
    }
    const end = (): void => {
      socket.off('data', hear)
      socket.off('close', end)
      resolve(text)
    }
    socket.on('data', hear)
    socket.on('close', end)
  })
const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve))

/** What is said before the client goes. */
const activities: { readonly [name: string]: (socket: Socket, port: number) => Promise<unknown> } = {
  nothing: async () => {},
  'half of a head': async (socket, port) => socket.write(post(port, echo).slice(0, 60)),
  'half of a body': async (socket, port) => socket.write(post(port, echo).slice(0, -20)),
  'a call, answered': async (socket, port) => {
    socket.write(post(port, echo))
    await receivedUntil(socket, /"result"/)
  },
  'a call, not waited for': async (socket, port) => socket.write(post(port, echo)),
  'a call that goes on': async (socket, port) => {
    socket.write(post(port, wait))
    await receivedUntil(socket, /progress/)
  },
  'a subscription': async (socket, port) => {
    socket.write(post(port, subscribeMessage))
    await receivedUntil(socket, /acknowledged/)
  },
  'a stream of a session': async (socket, port) => {
    socket.write(postText(port, initializeMessage))
    const id = /mcp-session-id: (\S+)/i.exec(await receivedUntil(socket, /"result"/))?.[1] ?? ''
    socket.write(requestText(port, 'GET', '/mcp', { ...events, 'mcp-session-id': id }))
    await receivedUntil(socket, /text\/event-stream/)
  },
  'a stream of 2024': async (socket, port) => {
    socket.write(requestText(port, 'GET', '/sse', events))
    await receivedUntil(socket, /endpoint/)
  },
  'half of a frame': async (socket, port) => {
    socket.write(requestText(port, 'GET', '/ws', upgrade))
    await receivedUntil(socket, /101 Switching/)
    socket.write(Buffer.from([0x81, 0xfe, 0x01, 0x00, 1, 2, 3, 4, 0x7b]))
  },
}

/** How it goes. */
const disconnects: { readonly [name: string]: (socket: Socket) => void } = {
  FIN: (socket) => {
    socket.end()
  },
  RST: (socket) => {
    socket.resetAndDestroy()
  },
  'FIN, then RST': (socket) => {
    socket.end(() => socket.resetAndDestroy())
  },
}

export const patterns: readonly (readonly [doing: string, going: string])[] = Object.keys(activities).flatMap((doing) =>
  Object.keys(disconnects).map((going) => [doing, going] as const),
)

/** One client, from its coming to its going. A half-closed one waits for the server, a moment at most. */
export async function connectAndLeave(port: number, turn: number): Promise<void> {
  const [doing = '', going = ''] = patterns[turn % patterns.length] ?? []
  const socket = await connectFrom(port, turn)
  await activities[doing]?.(socket, port)
  socket.resume()
  const gone = closed(socket)
  disconnects[going]?.(socket)
  const late = setTimeout(() => socket.destroy(), 1_000)
  await gone
  clearTimeout(late)
}

/** So many, a few at a time. */
export async function connectAndLeaveMany(port: number, count: number, atOnce: number): Promise<void> {
  let turn = 0
  const one = async (): Promise<void> => {
    while (turn < count) await connectAndLeave(port, turn++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** Streams that stay open, half of them of sessions and half subscriptions; settles when all of them are. */
export async function openStreams(port: number, count: number): Promise<readonly Socket[]> {
  const open: Socket[] = []
  let turn = 0
  const one = async (): Promise<void> => {
    while (turn < count) {
      const mine = turn++
      const socket = await connectFrom(port, mine)
      await activities[mine % 2 === 0 ? 'a stream of a session' : 'a subscription']?.(socket, port)
      socket.resume()
      open.push(socket)
    }
  }
  await Promise.all(Array.from({ length: 20 }, one))
  return open
}

/** A client that asks for more than it reads; settles when the server has cut it off. */
export async function stallUntilClosed(port: number): Promise<void> {
  const socket = await connectFrom(port, 0)
  socket.write(post(port, floodMessage))
  // Not even looked at until the server is through with it.
  socket.pause()
  // Who does not read hears of the end only by writing.
  const look = setInterval(() => socket.write('\r\n'), 50)
  await closed(socket)
  clearInterval(look)
}
