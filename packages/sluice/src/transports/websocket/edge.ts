/**
 * WebSocket on workerd, Deno and Bun, through their own sockets: `toFetch(server, { websocket: websocket() })`. On Bun
 * the module also exports the handlers: `export default { fetch, websocket: bunSockets }`.
 */

import type { EdgeSockets, EdgeSocketWay } from '../fetch.ts'
import type { SocketOptions, Talk, Wire } from './talk.ts'
import { createTalk } from './talk.ts'
import type { Guest } from './welcome.ts'
import { subprotocol, upgradeRequired, welcome } from './welcome.ts'

export type { SocketOptions } from './talk.ts'

/** What Deno's and workerd's sockets have in common. */
interface EventSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  readonly bufferedAmount?: number
  addEventListener(type: 'open' | 'close' | 'error', then: () => void): void
  addEventListener(type: 'message', then: (event: { readonly data: unknown }) => void): void
}
/** What is used of Bun’s `ServerWebSocket`. */
export interface BunSocket {
  readonly data: Begun
  send(text: string): number
  close(code?: number, reason?: string): void
  terminate(): void
  ping(): number
  getBufferedAmount(): number
}
/** Bun's sockets meet their handlers by way of what was attached to them. */
export interface Begun {
  begin(socket: BunSocket): void
  talk?: Talk
}
interface Runtime {
  readonly WebSocketPair?: { new (): { readonly 0: object; readonly 1: EventSocket & { accept(): void } } }
  readonly Deno?: {
    upgradeWebSocket(
      request: Request,
      options: { readonly protocol: string; readonly idleTimeout: number },
    ): { readonly socket: EventSocket; readonly response: Response }
  }
}
interface BunServer {
  upgrade(request: Request, options: { readonly data: Begun; readonly headers: object }): boolean
}

const agreed = { 'sec-websocket-protocol': subprotocol }

/** WebSocket on workerd, Deno and Bun: `toFetch(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): EdgeSocketWay =>
  (around): EdgeSockets => {
    const { path = '/ws', pingMs = 30_000 } = options
    const open = new Set<Talk>()
    const begin = (guest: Guest, wire: Wire): Talk => {
      const talk = createTalk(around, guest, wire, options)
      open.add(talk)
      return talk
    }
    return {
      path,
      plain: upgradeRequired(around),
      async upgrade(request, asked, beside) {
        // Kept: Deno's request cannot be read any more once it is a socket, and credentials are checked with every message.
        const headers = new Headers(request.headers)
        const guest = await welcome(around, { ...asked, header: (name) => headers.get(name) ?? undefined })
        const { WebSocketPair, Deno }: Runtime = globalThis as Runtime
        if (WebSocketPair) return onWorkerd(new WebSocketPair(), (socket) => attach(socket, guest, begin, open))
        if (Deno) {
          // It pings by itself, and closes what does not answer.
          const { socket, response } = Deno.upgradeWebSocket(request, {
            protocol: subprotocol,
            idleTimeout: Math.max(1, Math.ceil(pingMs / 1000)),
          })
          socket.addEventListener('open', () => attach(socket, guest, begin, open))
          return response
        }
        if (isBun(beside)) return onBun(beside, request, guest, begin, open)
        guest.via.connection.close()
        throw new TypeError('websocket: this runtime has no sockets that are known here')
      },
      close() {
        for (const talk of open) talk.close(1001, 'The server is going away')
      },
    }
  }

type Begin = (guest: Guest, wire: Wire) => Talk

function attach(socket: EventSocket, guest: Guest, begin: Begin, open: Set<Talk>): void {
  const talk = begin(guest, toWire(socket))
  const ended = (): void => {
    open.delete(talk)
    talk.ended()
  }
  socket.addEventListener('message', ({ data }) => (typeof data === 'string' ? talk.text(data) : talk.binary()))
  socket.addEventListener('close', ended)
  socket.addEventListener('error', ended)
}

const toWire = (socket: EventSocket): Wire => ({
  send(text) {
    try {
      socket.send(text)
    } catch {
      // Closed, and the event is still to come; or, on workerd, news from another request than the socket's own.
    }
  },
  close: (code, reason) => socket.close(code, reason),
  cut: () => socket.close(1013, 'The reader stalled'),
  get unsent() {
    // workerd does not tell.
    return socket.bufferedAmount ?? 0
  },
})

function onWorkerd(
  { 0: client, 1: server }: { readonly 0: object; readonly 1: EventSocket & { accept(): void } },
  then: (socket: EventSocket) => void,
): Response {
  server.accept()
  then(server)
  const init: ResponseInit & { readonly webSocket: object } = { status: 101, headers: agreed, webSocket: client }
  return new Response(null, init)
}

const isBun = (beside: unknown): beside is BunServer =>
  typeof beside === 'object' && beside !== null && 'upgrade' in beside && typeof beside.upgrade === 'function'

function onBun(server: BunServer, request: Request, guest: Guest, begin: Begin, open: Set<Talk>): Response {
  const data: Begun = {
    begin(socket) {
      const talk = begin(guest, {
        send: (text) => {
          socket.send(text)
        },
        close: (code, reason) => socket.close(code, reason),
        cut: () => socket.terminate(),
        ping: () => {
          socket.ping()
        },
        get unsent() {
          return socket.getBufferedAmount()
        },
      })
      data.talk = {
        ...talk,
        ended() {
          open.delete(talk)
          talk.ended()
        },
      }
    },
  }
  if (!server.upgrade(request, { data, headers: agreed })) {
    guest.via.connection.close()
    throw new TypeError('websocket: Bun did not upgrade; export default { fetch, websocket: bunSockets }')
  }
  // Bun has answered, and asks for nothing.
  return undefined as unknown as Response
}

/** What Bun’s `serve` takes as `websocket`. */
export interface BunSockets {
  readonly maxPayloadLength: number
  readonly perMessageDeflate: boolean
  readonly idleTimeout: number
  readonly sendPings: boolean
  open(socket: BunSocket): void
  message(socket: BunSocket, data: unknown): void
  ping(socket: BunSocket): void
  pong(socket: BunSocket): void
  close(socket: BunSocket): void
}

/** What Bun calls for all sockets of a server; each knows its own conversation. */
export const bunSockets: BunSockets = {
  /** A frame larger than this is not even taken in; what a message may have is the option `maxPayload`. */
  maxPayloadLength: 4 * 1024 * 1024,
  perMessageDeflate: false,
  // We ask ourselves whether a client is there.
  idleTimeout: 0,
  sendPings: false,
  open: (socket) => socket.data.begin(socket),
  message: ({ data: { talk } }, data) => (typeof data === 'string' ? talk?.text(data) : talk?.binary()),
  ping: ({ data }) => data.talk?.pinged(),
  pong: ({ data }) => data.talk?.ponged(),
  close: ({ data }) => data.talk?.ended(),
}
