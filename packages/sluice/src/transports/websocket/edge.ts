/**
 * WebSocket on workerd, Deno and Bun, through their own sockets: `toFetch(server, { websocket: websocket() })`. On Bun
 * the module also exports the handlers: `export default { fetch, websocket: bunSockets }`.
 */

import type { EdgeSocketServer, EdgeSocketTransport } from '../fetch.ts'
import type { PendingSocket } from './accept-upgrade.ts'
import { acceptUpgrade, subprotocol, upgradeRequired } from './accept-upgrade.ts'
import type { RuntimeSocket, SocketOptions, SocketSession } from './socket-session.ts'
import { createSocketSession } from './socket-session.ts'

export type { SocketOptions } from './socket-session.ts'

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
  readonly data: BunSocketData
  send(text: string): number
  close(code?: number, reason?: string): void
  terminate(): void
  ping(): number
  getBufferedAmount(): number
}
/** Bun's sockets meet their handlers by way of what was attached to them. */
export interface BunSocketData {
  open(socket: BunSocket): void
  session?: SocketSession
}
interface RuntimeGlobals {
  readonly WebSocketPair?: { new (): { readonly 0: object; readonly 1: EventSocket & { accept(): void } } }
  readonly Deno?: {
    upgradeWebSocket(
      request: Request,
      options: { readonly protocol: string; readonly idleTimeout: number },
    ): { readonly socket: EventSocket; readonly response: Response }
  }
}
interface BunServer {
  upgrade(request: Request, options: { readonly data: BunSocketData; readonly headers: object }): boolean
}

const upgradeHeaders = { 'sec-websocket-protocol': subprotocol }

/** WebSocket on workerd, Deno and Bun: `toFetch(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): EdgeSocketTransport =>
  (around): EdgeSocketServer => {
    const { path = '/ws', pingMs = 30_000 } = options
    const open = new Set<SocketSession>()
    const begin = (guest: PendingSocket, wire: RuntimeSocket): SocketSession => {
      const talk = createSocketSession(around, guest, wire, options)
      open.add(talk)
      return talk
    }
    return {
      path,
      handlePlainRequest: upgradeRequired(around),
      async upgrade(request, asked, beside) {
        // Kept: Deno's request cannot be read any more once it is a socket, and credentials are checked with every message.
        const headers = new Headers(request.headers)
        const guest = await acceptUpgrade(around, { ...asked, header: (name) => headers.get(name) ?? undefined })
        const { WebSocketPair, Deno }: RuntimeGlobals = globalThis as RuntimeGlobals
        if (WebSocketPair)
          return upgradeOnWorkerd(new WebSocketPair(), (socket) => attachSession(socket, guest, begin, open))
        if (Deno) {
          // It pings by itself, and closes what does not answer.
          const { socket, response } = Deno.upgradeWebSocket(request, {
            protocol: subprotocol,
            idleTimeout: Math.max(1, Math.ceil(pingMs / 1000)),
          })
          socket.addEventListener('open', () => attachSession(socket, guest, begin, open))
          return response
        }
        if (isBunServer(beside)) return upgradeOnBun(beside, request, guest, begin, open)
        guest.via.connection.close()
        throw new TypeError('websocket: this runtime has no sockets that are known here')
      },
      close() {
        for (const talk of open) talk.close(1001, 'The server is going away')
      },
    }
  }

type StartSession = (guest: PendingSocket, wire: RuntimeSocket) => SocketSession

function attachSession(socket: EventSocket, guest: PendingSocket, begin: StartSession, open: Set<SocketSession>): void {
  const talk = begin(guest, toRuntimeSocket(socket))
  const ended = (): void => {
    open.delete(talk)
    talk.onClose()
  }
  socket.addEventListener('message', ({ data }) =>
    typeof data === 'string' ? talk.receiveText(data) : talk.receiveBinary(),
  )
  socket.addEventListener('close', ended)
  socket.addEventListener('error', ended)
}

const toRuntimeSocket = (socket: EventSocket): RuntimeSocket => ({
  send(text) {
    try {
      socket.send(text)
    } catch {
      // Closed, and the event is still to come; or, on workerd, news from another request than the socket's own.
    }
  },
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.close(1013, 'The reader stalled'),
  get unsentBytes() {
    // workerd does not tell.
    return socket.bufferedAmount ?? 0
  },
})

function upgradeOnWorkerd(
  { 0: client, 1: server }: { readonly 0: object; readonly 1: EventSocket & { accept(): void } },
  then: (socket: EventSocket) => void,
): Response {
  server.accept()
  then(server)
  const init: ResponseInit & { readonly webSocket: object } = {
    status: 101,
    headers: upgradeHeaders,
    webSocket: client,
  }
  return new Response(null, init)
}

const isBunServer = (beside: unknown): beside is BunServer =>
  typeof beside === 'object' && beside !== null && 'upgrade' in beside && typeof beside.upgrade === 'function'

function upgradeOnBun(
  server: BunServer,
  request: Request,
  guest: PendingSocket,
  begin: StartSession,
  open: Set<SocketSession>,
): Response {
  const data: BunSocketData = {
    open(socket) {
      const talk = begin(guest, {
        send: (text) => {
          socket.send(text)
        },
        close: (code, reason) => socket.close(code, reason),
        terminate: () => socket.terminate(),
        ping: () => {
          socket.ping()
        },
        get unsentBytes() {
          return socket.getBufferedAmount()
        },
      })
      data.session = {
        ...talk,
        onClose() {
          open.delete(talk)
          talk.onClose()
        },
      }
    },
  }
  if (!server.upgrade(request, { data, headers: upgradeHeaders })) {
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
  open: (socket) => socket.data.open(socket),
  message: ({ data: { session } }, data) =>
    typeof data === 'string' ? session?.receiveText(data) : session?.receiveBinary(),
  ping: ({ data }) => data.session?.onPing(),
  pong: ({ data }) => data.session?.onPong(),
  close: ({ data }) => data.session?.onClose(),
}
