/** Streamable HTTP on `node:http`: the fast path. No `Request` or `Response` objects are made. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { Page, Server } from '../../protocol/server.ts'
import type { Sink } from './events.ts'
import type { Exchange, HttpOptions } from './exchange.ts'
import { createExchange } from './exchange.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { createPressure } from './pressure.ts'

/** `import 'node:http'` reads every export of it, and one of them loads all of fetch: longer than all of ours. */
const { createServer: createNodeServer } = process.getBuiltinModule('node:http')

/** A reader that stalls is cut off here: without it one slow client costs hundreds of megabytes. */
const maxUnsent = 1024 * 1024

export interface NodeHandler extends Pick<Exchange, 'connect' | 'resource'> {
  (request: IncomingMessage, response: ServerResponse): void
  close(): void
}

/** For mounting into a server of your own. */
export function createHttpHandler(server: Server, options: HttpOptions = {}): NodeHandler {
  const exchange: Exchange = createExchange(server, options)
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    void exchange.serve(new NodeRequest(request), new NodeReply(response))
  }
  const { close, connect, resource } = exchange
  return Object.assign(handler, { close, connect, resource })
}

class NodeRequest implements HttpRequest {
  readonly transport = 'http'
  readonly #message: IncomingMessage
  readonly method: string
  constructor(message: IncomingMessage) {
    this.#message = message
    this.method = message.method ?? ''
  }
  get peer(): string {
    return this.#message.socket.remoteAddress ?? ''
  }
  get port(): number | undefined {
    return this.#message.socket.localPort
  }
  get host(): string | undefined {
    const { rawHeaders, headers } = this.#message
    let hosts = 0
    // Node keeps the first of two; whoever sits in front may have looked at the other.
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]
      if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
    }
    return hosts === 1 ? headers.host : undefined
  }
  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return typeof value === 'string' ? value : value?.join(', ')
  }
  body(maxBytes: number): Promise<string> {
    const message = this.#message
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const tooLarge = (): void => {
        // Read on, into nothing: the client is still writing and would not see an answer on a reset connection.
        message.removeAllListeners('data')
        message.resume()
        reject(new RpcError('payloadTooLarge', `The body is larger than ${maxBytes} bytes`, { data: { maxBytes } }))
      }
      if (Number(message.headers['content-length']) > maxBytes) return tooLarge()
      message.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) tooLarge()
        else chunks.push(chunk)
      })
      message.on('end', () => {
        const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
        if (isUtf8(bytes)) resolve(bytes.toString('utf8'))
        else reject(new RpcError('parseError', 'Parse error: the body is not UTF-8'))
      })
      // A client that goes away in the middle of its body leaves an error here, and nobody to answer.
      message.on('error', (cause) => reject(new RpcError('cancelled', 'The client went away', { cause })))
    })
  }
}

class NodeReply implements HttpReply {
  readonly #response: ServerResponse
  constructor(response: ServerResponse) {
    this.#response = response
  }
  end(status: number, headers: HttpHeaders, body = ''): void {
    const response = this.#response
    if (response.headersSent || response.destroyed) return
    const lines = status === 204 ? [] : ['content-length', String(Buffer.byteLength(body))]
    for (const name in headers) lines.push(name, headers[name] ?? '')
    response.writeHead(status, lines)
    // What is left of the request's body Node reads into nothing, within `requestTimeout`: a client that is still
    // writing would not see this answer on a connection that was reset.
    response.end(body)
  }
  stream(headers: HttpHeaders): Sink {
    const response = this.#response
    response.writeHead(200, headers)
    response.flushHeaders()
    return {
      write(text) {
        if (response.destroyed || response.writableEnded) return
        // Looked at before writing: one message may be larger than that, and its reader is not stalled.
        if (response.writableLength > maxUnsent) response.destroy()
        else response.write(text)
      },
      end: () => void response.end(),
      get closed() {
        return response.destroyed || response.writableEnded
      },
    }
  }
  onGone(stop: Stop): void {
    const response = this.#response
    response.on('close', () => {
      if (!response.writableFinished) stop.stop(new RpcError('cancelled', 'The client closed the connection'))
    })
  }
}

export interface ServeHttpOptions extends HttpOptions {
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
  const handler = createHttpHandler(
    server,
    options.gate ? { ...options, gate: { ...options.gate, ...(pressure && { pressure }) } } : options,
  )
  const node = createNodeServer(
    // Node looks for slow requests every 30 s unless told, whatever the timeouts say.
    { headersTimeout: 5_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    (request, response) => {
      const { url = '' } = request
      if (url === path || (url.startsWith(path) && url[path.length] === '?')) handler(request, response)
      else void aside(server, handler, request, response).catch(() => response.destroy())
    },
  )
  node.maxConnections = maxConnections
  if (options.gate)
    node.on('connection', (socket) => {
      const leave = handler.connect(socket.remoteAddress ?? '')
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
      handler.close()
      node.closeIdleConnections()
      const callOff = server.clock.after(closeWithinMs, () => node.closeAllConnections())
      await closed
      callOff()
      await recorded
    },
  }
}

/** Beside the endpoint: what OAuth clients read, health and metrics. */
async function aside(
  server: Server,
  { resource }: NodeHandler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const known = resource && isRead && resource.paths.includes(path) ? { status: 200, ...resource } : undefined
  const page = known ?? (isRead ? await server.page(path, request.socket.remoteAddress ?? '') : undefined) ?? notHere
  response.writeHead(page.status, { ...page.headers, 'content-length': Buffer.byteLength(page.body) })
  response.end(request.method === 'HEAD' ? '' : page.body)
}

const notHere: Page = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'Nothing here. The MCP endpoint is at another path, usually /mcp\n',
}
