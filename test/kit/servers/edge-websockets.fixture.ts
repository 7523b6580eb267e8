/**
 * The edge's WebSocket on Node: a server that upgrades as Bun's does, on real sockets, so that every case of this
 * folder covers that code too. The runtimes themselves are tested in `test/runtimes`.
 */

import type { IncomingMessage } from 'node:http'
import { createServer as createNodeServer, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Server } from 'sluice'
import type { FetchOptions } from 'sluice/fetch'
import { toFetch } from 'sluice/fetch'
import type { BunSocket } from 'sluice/websocket-edge'
import { bunSockets, websocket } from 'sluice/websocket-edge'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'

const toBun = (ws: WebSocket, data: BunSocket['data']): BunSocket => ({
  data,
  send(text) {
    ws.send(text)
    return text.length
  },
  close: (code, reason) => ws.close(code, reason),
  terminate: () => ws.terminate(),
  ping() {
    ws.ping()
    return 0
  },
  getBufferedAmount: () => ws.bufferedAmount,
})

const toRequest = ({ url = '/', headers, method = 'GET' }: IncomingMessage): Request =>
  new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      name === 'connection' ? [] : [[name, String(value)]],
    ),
  })

export async function serveEdgeSockets(
  server: Server,
  options: FetchOptions = {},
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const handler = toFetch(server, { ...options, websocket: websocket() })
  const settings = { noServer: true, maxPayload: bunSockets.maxPayloadLength, closeTimeout: 1000 }
  const upgrader = new WebSocketServer(settings)
  const node = createNodeServer((request, response) => {
    const answered = Promise.resolve().then(() => handler(toRequest(request)))
    answer(answered, response).catch(() => response.destroy())
  })
  node.on('upgrade', (request, socket, head) => {
    let upgraded = false
    const bun = {
      upgrade(_: Request, { data }: { readonly data: BunSocket['data'] }): boolean {
        upgraded = true
        upgrader.handleUpgrade(request, socket, head, (ws) => {
          const own = toBun(ws, data)
          bunSockets.open(own)
          ws.on('error', () => {})
          ws.on('message', (bytes: Buffer, isBinary: boolean) =>
            bunSockets.message(own, isBinary ? bytes : String(bytes)),
          )
          ws.on('ping', () => bunSockets.ping(own))
          ws.on('pong', () => bunSockets.pong(own))
          ws.on('close', () => bunSockets.close(own))
        })
        return true
      },
    }
    socket.on('error', () => {})
    const answered = Promise.resolve()
      .then(() => handler(toRequest(request), bun))
      .catch(() => new Response(null, { status: 400 }))
    const refuse = (response: Response): void => {
      if (upgraded) return
      const refusing = new ServerResponse(request)
      refusing.assignSocket(socket as Socket)
      refusing.on('finish', () => socket.end())
      answer(Promise.resolve(response), refusing).catch(() => socket.destroy())
    }
    answered.then(refuse, () => socket.destroy())
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  return {
    port: (node.address() as AddressInfo).port,
    async close() {
      await handler.close()
      node.closeAllConnections()
      await new Promise((resolve) => node.close(resolve))
    },
  }
}

async function answer(from: Promise<Response>, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await from.catch(() => new Response(null, { status: 400 }))
  response.writeHead(status, Object.fromEntries(headers))
  response.end(body === null ? '' : Buffer.from(await new Response(body).arrayBuffer()))
}
