/** HTTP on `node:http`: the fast path, for mounting into a server of your own and for listening. */

import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '../../core/part.ts'
import type { Server } from '../../protocol/server.ts'
import type { Exchange } from './exchange.ts'
import { NodeReply, NodeRequest } from './node-message.ts'
import { createPressure } from './pressure.ts'
import type { Site, SiteOptions } from './site.ts'
import { createSite, pathOf } from './site.ts'

/** `import 'node:http'` reads every export of it, and one of them loads all of fetch: longer than all of ours. */
const { createServer: createNodeServer } = process.getBuiltinModule('node:http')

export interface NodeHandler extends Pick<Exchange, 'connect' | 'resource'> {
  (request: IncomingMessage, response: ServerResponse): void
  close(): void
}

/** For mounting into a server of your own. */
export function createHttpHandler(server: Server, options: SiteOptions = {}): NodeHandler {
  const { mounted, close, connect, resource } = createSite(server, options)
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    void mounted(new NodeRequest(request), new NodeReply(response))
  }
  return Object.assign(handler, { close, connect, resource })
}

export interface ServeHttpOptions extends SiteOptions {
  /** 0 takes a free one. */
  readonly port?: number
  /** Loopback unless said: whoever opens it to the network also names its `hosts`. */
  readonly host?: string
  readonly path?: string
  readonly maxConnections?: number
  /** How long `close` waits for calls under way before it cuts their connections. */
  readonly closeWithinMs?: number
}

export interface HttpServing {
  readonly url: string
  readonly server: NodeServer
  /** Ends streams and sessions, refuses new connections, waits a while for the open ones. */
  close(): Promise<void>
}

/** Listens, with limits on how slowly a request may come in. */
export async function listenHttp(server: Server, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const { port = 3000, host = '127.0.0.1', path = '/mcp', maxConnections = 10_000, closeWithinMs = 5_000 } = options
  const pressure = options.gate && createPressure()
  const site = createSite(
    server,
    options.gate ? { ...options, gate: { ...options.gate, ...(pressure && { pressure }) } } : options,
  )
  const routes = new Map([[path, site.serve], ...site.ways])
  const node = createNodeServer(
    // Node looks for slow requests every 30 s unless told, whatever the timeouts say.
    { headersTimeout: 5_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    (request, response) => {
      const at = pathOf(request.url ?? '')
      const asked = new NodeRequest(request)
      const reply = new NodeReply(response)
      const serve = routes.get(at)
      if (serve) void serve(asked, reply)
      else void aside(at, site, asked, reply).catch(() => response.destroy())
    },
  )
  node.maxConnections = maxConnections
  if (options.gate)
    node.on('connection', (socket) => {
      const leave = site.connect(socket.remoteAddress ?? '')
      if (leave) socket.on('close', leave)
      else socket.destroy()
    })
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: bound } = node.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${path}`,
    server: node,
    async close() {
      const closed = new Promise<void>((resolve) => node.close(() => resolve()))
      const recorded = server.close()
      pressure?.close()
      // Subscriptions have their last answer before their streams are cut.
      await new Promise((resolve) => setImmediate(resolve))
      site.close()
      node.closeIdleConnections()
      const callOff = server.clock.after(closeWithinMs, () => node.closeAllConnections())
      await closed
      callOff()
      await recorded
    },
  }
}

/** Beside the endpoint: what OAuth clients read, health and metrics. */
async function aside(path: string, site: Site, request: NodeRequest, reply: NodeReply): Promise<void> {
  const { status, headers, body } = (await site.page(path, request)) ?? notHere
  reply.end(status, headers, body)
}

const notHere: Page = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'Nothing here. The MCP endpoint is at another path, usually /mcp\n',
}
