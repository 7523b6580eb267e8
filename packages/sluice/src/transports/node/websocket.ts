/**
 * WebSocket on Node, through `ws`: `serveHttp(definition, { websocket: websocket() })`. The protocol is described in
 * docs/transports.md.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { acceptUpgrade, subprotocol, upgradeRequired } from '../websocket/accept-upgrade.ts'
import type { RuntimeSocket, SocketOptions, SocketSession } from '../websocket/socket-session.ts'
import { createSocketSession } from '../websocket/socket-session.ts'
import type { SocketServer, SocketTransport } from './http-handler.ts'
import { NodeRequest, replyOnSocket } from './http-message.ts'

export type { SocketOptions } from '../websocket/socket-session.ts'

/** How long a client may take to answer the close frame. */
const closeTimeoutMs = 1_000

/** Serves WebSockets on Node, beside the endpoint: `serveHttp(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): SocketTransport =>
  (context, unsent) => {
    const { path = '/ws', maxPayload = context.maxBodyBytes } = options
    const open = new Set<SocketSession>()
    const settings = {
      noServer: true,
      clientTracking: false,
      // Compression costs memory per socket and lets small frames expand to huge ones. Proxies compress better.
      perMessageDeflate: false,
      handleProtocols: () => subprotocol,
      closeTimeout: closeTimeoutMs,
      maxPayload,
    }
    const upgrader = new WebSocketServer(settings)

    async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      // No other listener exists yet, and a client that disconnects now must not end the process.
      socket.on('error', noop)
      const httpRequest = new NodeRequest(request)
      const connection = { socket: request.socket }
      try {
        const pending = await acceptUpgrade(context, httpRequest)
        if (!socket.writable) pending.via.connection.close()
        else
          upgrader.handleUpgrade(request, socket, head, (ws) => {
            socket.off('error', noop)
            const session: SocketSession = createSocketSession(
              context,
              pending,
              toRuntimeSocket(
                ws,
                () => session.onDrain(),
                () => unsent.track(connection),
              ),
              options,
            )
            open.add(session)
            ws.on('close', () => open.delete(session))
            addListeners(ws, session)
          })
      } catch (thrown) {
        context.refuse(thrown, httpRequest, replyOnSocket(request, socket), {})
      }
    }
    const sockets: SocketServer = {
      path,
      handlePlainRequest: upgradeRequired(context),
      upgrade: (request, socket, head) => {
        upgrade(request, socket, head).catch(() => socket.destroy())
      },
      detach() {
        for (const session of open) if (session.idle) session.close(...goingAway)
      },
      close() {
        for (const session of open) session.close(...goingAway)
      },
    }
    return sockets
  }

const goingAway = [1001, 'The server is going away'] as const
const noop = (): void => {}

function addListeners(ws: WebSocket, session: SocketSession): void {
  // A frame that violates the protocol. `ws` closes the socket with the right code.
  ws.on('error', noop)
  ws.on('message', (data: Buffer, isBinary: boolean) =>
    isBinary ? session.receiveBinary() : session.receiveText(data.toString('utf8')),
  )
  ws.on('ping', session.onPing)
  ws.on('pong', session.onPong)
  ws.on('close', session.onClose)
}

const toRuntimeSocket = (ws: WebSocket, drained: () => void, wrote: () => void): RuntimeSocket => ({
  send(text) {
    ws.send(text, drained)
    wrote()
  },
  close: (code, reason) => ws.close(code, reason),
  terminate: () => ws.terminate(),
  get unsentBytes() {
    return ws.bufferedAmount
  },
  ping: () => ws.ping(),
  pause: () => ws.pause(),
  resume: () => ws.resume(),
})
