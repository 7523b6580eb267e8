/**
 * WebSocket on Node, through `ws`: `serveHttp(definition, { websocket: websocket() })`. How it is spoken is in
 * docs/transports.md.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Sockets, SocketWay } from '../http/node.ts'
import { NodeRequest, replyOn } from '../http/node-message.ts'
import type { SocketOptions, Talk, Wire } from './talk.ts'
import { createTalk } from './talk.ts'
import { subprotocol, upgradeRequired, welcome } from './welcome.ts'

export type { SocketOptions } from './talk.ts'

/** How long a client may take to say goodbye too. */
const closeMs = 1_000

/** WebSocket on Node, beside the endpoint: `serveHttp(server, { websocket: websocket() })`. */
export const websocket =
  (options: SocketOptions = {}): SocketWay =>
  (around, unsent) => {
    const { path = '/ws', maxPayload = around.maxBodyBytes } = options
    const open = new Set<Talk>()
    const settings = {
      noServer: true,
      clientTracking: false,
      // Compression costs memory per socket and opens bombs; proxies compress better.
      perMessageDeflate: false,
      handleProtocols: () => subprotocol,
      closeTimeout: closeMs,
      maxPayload,
    }
    const upgrader = new WebSocketServer(settings)

    async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      // Nobody else listens yet, and a client that goes meanwhile must not end the process.
      socket.on('error', ignore)
      const asked = new NodeRequest(request)
      const connection = { socket: request.socket }
      try {
        const guest = await welcome(around, asked)
        if (!socket.writable) guest.via.connection.close()
        else
          upgrader.handleUpgrade(request, socket, head, (ws) => {
            socket.off('error', ignore)
            const talk: Talk = createTalk(
              around,
              guest,
              toWire(
                ws,
                () => talk.drained(),
                () => unsent.wrote(connection),
              ),
              options,
            )
            open.add(talk)
            ws.on('close', () => open.delete(talk))
            listen(ws, talk)
          })
      } catch (thrown) {
        around.refuse(thrown, asked, replyOn(request, socket), {})
      }
    }
    const sockets: Sockets = {
      path,
      plain: upgradeRequired(around),
      upgrade: (request, socket, head) => {
        upgrade(request, socket, head).catch(() => socket.destroy())
      },
      letGo() {
        for (const talk of open) if (talk.quiet) talk.close(...goodbye)
      },
      close() {
        for (const talk of open) talk.close(...goodbye)
      },
    }
    return sockets
  }

const goodbye = [1001, 'The server is going away'] as const
const ignore = (): void => {}

function listen(ws: WebSocket, talk: Talk): void {
  // A frame that breaks the protocol: `ws` closes with the code for it.
  ws.on('error', ignore)
  ws.on('message', (data: Buffer, isBinary: boolean) => (isBinary ? talk.binary() : talk.text(data.toString('utf8'))))
  ws.on('ping', talk.pinged)
  ws.on('pong', talk.ponged)
  ws.on('close', talk.ended)
}

const toWire = (ws: WebSocket, drained: () => void, wrote: () => void): Wire => ({
  send(text) {
    ws.send(text, drained)
    wrote()
  },
  close: (code, reason) => ws.close(code, reason),
  cut: () => ws.terminate(),
  get unsent() {
    return ws.bufferedAmount
  },
  ping: () => ws.ping(),
  pause: () => ws.pause(),
  resume: () => ws.resume(),
})
