/**
 * WebSocket on Node, through `ws`: `serveHttp(definition, { websocket: websocket() })`. How it is spoken is in
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

/** How long a client may take to say goodbye too. */
const closeTimeoutMs = 1_000

/** WebSocket on Node, beside the endpoint: `serveHttp(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): SocketTransport =>
  (around, unsent) => {
    const { path = '/ws', maxPayload = around.maxBodyBytes } = options
    const open = new Set<SocketSession>()
    const settings = {
      noServer: true,
      clientTracking: false,
      // Compression costs memory per socket and opens bombs; proxies compress better.
      perMessageDeflate: false,
      handleProtocols: () => subprotocol,
      closeTimeout: closeTimeoutMs,
      maxPayload,
    }
    const upgrader = new WebSocketServer(settings)

    async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      // Nobody else listens yet, and a client that goes meanwhile must not end the process.
      socket.on('error', noop)
      const asked = new NodeRequest(request)
      const connection = { socket: request.socket }
      try {
        const guest = await acceptUpgrade(around, asked)
        if (!socket.writable) guest.via.connection.close()
        else
          upgrader.handleUpgrade(request, socket, head, (ws) => {
            socket.off('error', noop)
            const talk: SocketSession = createSocketSession(
              around,
              guest,
              toRuntimeSocket(
                ws,
                () => talk.onDrain(),
                () => unsent.track(connection),
              ),
              options,
            )
            open.add(talk)
            ws.on('close', () => open.delete(talk))
            addListeners(ws, talk)
          })
      } catch (thrown) {
        around.refuse(thrown, asked, replyOnSocket(request, socket), {})
      }
    }
    const sockets: SocketServer = {
      path,
      handlePlainRequest: upgradeRequired(around),
      upgrade: (request, socket, head) => {
        upgrade(request, socket, head).catch(() => socket.destroy())
      },
      detach() {
        for (const talk of open) if (talk.idle) talk.close(...goingAway)
      },
      close() {
        for (const talk of open) talk.close(...goingAway)
      },
    }
    return sockets
  }

const goingAway = [1001, 'The server is going away'] as const
const noop = (): void => {}

function addListeners(ws: WebSocket, talk: SocketSession): void {
  // A frame that breaks the protocol: `ws` closes with the code for it.
  ws.on('error', noop)
  ws.on('message', (data: Buffer, isBinary: boolean) =>
    isBinary ? talk.receiveBinary() : talk.receiveText(data.toString('utf8')),
  )
  ws.on('ping', talk.onPing)
  ws.on('pong', talk.onPong)
  ws.on('close', talk.onClose)
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
