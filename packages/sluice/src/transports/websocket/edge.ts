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

/** The operations that sockets of Deno and workerd share. */
interface EventSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  readonly bufferedAmount?: number
  addEventListener(type: 'open' | 'close' | 'error', then: () => void): void
  addEventListener(type: 'message', then: (event: { readonly data: unknown }) => void): void
}
/** The used operations of Bun’s `ServerWebSocket`. */
export interface BunSocket {
  readonly data: BunSocketData
  send(text: string): number
  close(code?: number, reason?: string): void
  terminate(): void
  ping(): number
  getBufferedAmount(): number
}
/** The data attached to a socket of Bun, by which its handlers find the session. */
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

/** Serves WebSockets on workerd, Deno and Bun: `toFetch(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): EdgeSocketTransport =>
  (context): EdgeSocketServer => {
    const { path = '/ws', pingMs = 30_000 } = options
    const open = new Set<SocketSession>()
    const starterOf =
      (pending: PendingSocket): StartSession =>
      (socket) => {
        const session = createSocketSession(context, pending, socket, options)
        open.add(session)
        return {
          ...session,
          onClose() {
            open.delete(session)
            session.onClose()
          },
        }
      }
    return {
      path,
      handlePlainRequest: upgradeRequired(context),
      async upgrade(request, httpRequest, runtimeArgument) {
        // Copied, because credentials are checked with every message, and Deno's request cannot be read after the
        // upgrade.
        const headers = new Headers(request.headers)
        const pending = await acceptUpgrade(context, {
          ...httpRequest,
          header: (name) => headers.get(name) ?? undefined,
        })
        const start = starterOf(pending)
        const { WebSocketPair, Deno }: RuntimeGlobals = globalThis as RuntimeGlobals
        if (WebSocketPair) return upgradeOnWorkerd(new WebSocketPair(), start)
        if (Deno) {
          // Deno pings by itself, and closes sockets that do not answer.
          const { socket, response } = Deno.upgradeWebSocket(request, {
            protocol: subprotocol,
            idleTimeout: Math.max(1, Math.ceil(pingMs / 1000)),
          })
          socket.addEventListener('open', () => attachSession(socket, start))
          return response
        }
        if (isBunServer(runtimeArgument)) return upgradeOnBun(runtimeArgument, request, pending, start)
        pending.via.connection.close()
        throw new TypeError('"websocket" works on workerd, Deno and Bun only: this runtime has no known sockets')
      },
      close() {
        for (const session of open) session.close(1001, 'The server is going away')
      },
    }
  }

type StartSession = (socket: RuntimeSocket) => SocketSession

function attachSession(socket: EventSocket, start: StartSession): void {
  const session = start(toRuntimeSocket(socket))
  socket.addEventListener('message', ({ data }) =>
    typeof data === 'string' ? session.receiveText(data) : session.receiveBinary(),
  )
  socket.addEventListener('close', session.onClose)
  socket.addEventListener('error', session.onClose)
}

const toRuntimeSocket = (socket: EventSocket): RuntimeSocket => ({
  send(text) {
    try {
      socket.send(text)
    } catch {
      // The socket is closed and the event is still to come. Or, on workerd, the message comes from another request.
    }
  },
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.close(1013, 'The reader stalled'),
  get unsentBytes() {
    // workerd does not say.
    return socket.bufferedAmount ?? 0
  },
})

function upgradeOnWorkerd(
  { 0: client, 1: server }: { readonly 0: object; readonly 1: EventSocket & { accept(): void } },
  start: StartSession,
): Response {
  server.accept()
  attachSession(server, start)
  const init: ResponseInit & { readonly webSocket: object } = {
    status: 101,
    headers: upgradeHeaders,
    webSocket: client,
  }
  return new Response(null, init)
}

const isBunServer = (value: unknown): value is BunServer =>
  typeof value === 'object' && value !== null && 'upgrade' in value && typeof value.upgrade === 'function'

function upgradeOnBun(server: BunServer, request: Request, pending: PendingSocket, start: StartSession): Response {
  const data: BunSocketData = {
    open(socket) {
      data.session = start({
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
    },
  }
  if (!server.upgrade(request, { data, headers: upgradeHeaders })) {
    pending.via.connection.close()
    throw new TypeError('Bun did not upgrade the request: export default { fetch, websocket: bunSockets }')
  }
  // Bun has answered already, and needs no response.
  return undefined as unknown as Response
}

/** The `websocket` option of Bun’s `serve`. */
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

/** The handlers that Bun calls for all sockets of a server. Each socket has its session. */
export const bunSockets: BunSockets = {
  /** The largest frame that Bun reads. The limit for messages is the option `maxPayload`. */
  maxPayloadLength: 4 * 1024 * 1024,
  perMessageDeflate: false,
  // Sessions ping clients themselves.
  idleTimeout: 0,
  sendPings: false,
  open: (socket) => socket.data.open(socket),
  message: ({ data: { session } }, data) =>
    typeof data === 'string' ? session?.receiveText(data) : session?.receiveBinary(),
  ping: ({ data }) => data.session?.onPing(),
  pong: ({ data }) => data.session?.onPong(),
  close: ({ data }) => data.session?.onClose(),
}
