/** Every way in which a client connects and disconnects, on raw sockets. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { envelope, toInitialize } from './envelope.ts'
import { jsonHeaders, modernHeaders } from './http-events.ts'
import type { Params } from './protocol.ts'

type Fields = { readonly [name: string]: string }

/** Connects from one of many addresses, because the ports of one would run out while the kernel holds them. */
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

/** Reads until the answer matches or the connection ends. */
const receivedUntil = (socket: Socket, part: RegExp): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const onData = (piece: Buffer): void => {
      text += piece
      if (part.test(text)) end()
    }
    const end = (): void => {
      socket.off('data', onData)
      socket.off('close', end)
      resolve(text)
    }
    socket.on('data', onData)
    socket.on('close', end)
  })
const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve))

/** What the client does before it disconnects. */
const activities: { readonly [name: string]: (socket: Socket, port: number) => Promise<unknown> } = {
  nothing: async () => {},
  'half of the headers': async (socket, port) => socket.write(post(port, echo).slice(0, 60)),
  'half of a body': async (socket, port) => socket.write(post(port, echo).slice(0, -20)),
  'a call, answered': async (socket, port) => {
    socket.write(post(port, echo))
    await receivedUntil(socket, /"result"/)
  },
  'a call, not waited for': async (socket, port) => socket.write(post(port, echo)),
  'a call that is still running': async (socket, port) => {
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

/** How the client disconnects. */
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

/** Runs one client from connect to disconnect. A half-closed one waits briefly for the server. */
export async function connectAndLeave(port: number, turn: number): Promise<void> {
  const [doing = '', going = ''] = patterns[turn % patterns.length] ?? []
  const socket = await connectFrom(port, turn)
  await activities[doing]?.(socket, port)
  socket.resume()
  const ended = closed(socket)
  disconnects[going]?.(socket)
  const late = setTimeout(() => socket.destroy(), 1_000)
  await ended
  clearTimeout(late)
}

/** Runs that many clients, a few at a time. */
export async function connectAndLeaveMany(port: number, count: number, atOnce: number): Promise<void> {
  let turn = 0
  const one = async (): Promise<void> => {
    while (turn < count) await connectAndLeave(port, turn++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** Opens streams that stay open, half for sessions and half for subscriptions. Resolves when all are open. */
export async function openStreams(port: number, count: number): Promise<readonly Socket[]> {
  const open: Socket[] = []
  let turn = 0
  const one = async (): Promise<void> => {
    while (turn < count) {
      const index = turn++
      const socket = await connectFrom(port, index)
      await activities[index % 2 === 0 ? 'a stream of a session' : 'a subscription']?.(socket, port)
      socket.resume()
      open.push(socket)
    }
  }
  await Promise.all(Array.from({ length: 20 }, one))
  return open
}

/** A client that requests more than it reads. Resolves when the server has closed the connection. */
export async function stallUntilClosed(port: number): Promise<void> {
  const socket = await connectFrom(port, 0)
  socket.write(post(port, floodMessage))
  // Does not read until the server has closed the connection.
  socket.pause()
  // A client that does not read notices the end only by writing.
  const probe = setInterval(() => socket.write('\r\n'), 50)
  await closed(socket)
  clearInterval(probe)
}
