/** The console's HTTP server on a separate origin: the page, the API, the event stream and the webhook's route. */

import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RpcError } from 'sluice'
import { createGuard, isSafeUrl, NodeRequest } from 'sluice/internal'
import { isLoopback } from 'sluice/node'
import { createOperatorAuthenticator } from './authenticate-operator.ts'
import { noStore, securityHeaders } from './headers.ts'
import { notFound, sendError } from './reply.ts'
import type { ApiDeps } from './serve-api.ts'
import { createApi } from './serve-api.ts'
import type { SessionCookie } from './session-cookie.ts'
import { sessionCookie } from './session-cookie.ts'
import type { StaticFiles } from './static-files.ts'
import { readStaticFiles } from './static-files.ts'
import { createWebhookRoute, webhookPath } from './webhook-route.ts'

/** The address on which the console listens, and the one browsers use. */
export interface ConsoleListenOptions {
  /** By default 4100; 0 takes a free one. A separate port, so that no page of the servers shares its storage. */
  readonly port?: number
  /** By default a loopback address. With any other host, `origin` is required. */
  readonly host?: string
  /**
   * The URL for browsers behind a proxy that terminates TLS: `https://console.example.com`. Prefer a separate origin. With
   * a path, as in `https://example.com/console`, every other page on that origin can act as the signed-in operator.
   */
  readonly origin?: string
  /** `plain` is for Safari on loopback, which drops a cookie that other browsers accept. See `session-cookie.ts`. */
  readonly cookie?: 'host' | 'plain'
}

/** The console while it listens. */
export interface ConsoleServing {
  readonly url: string
  readonly server: NodeServer
  close(): Promise<void>
}

export async function listenConsole(deps: ApiDeps, options: ConsoleListenOptions = {}): Promise<ConsoleServing> {
  const { port = 4100, host = '127.0.0.1', origin, cookie = 'host' } = options
  if (!isLoopback(host) && origin === undefined)
    throw new TypeError(
      '"origin" is missing: on a network the console needs TLS in front of it. Set its URL, as https://console.example.com',
    )
  if (origin !== undefined && !isSafeUrl(origin))
    throw new TypeError('"origin" must be https, because plain http would expose the session')
  if (cookie === 'plain' && (origin !== undefined || !isLoopback(host)))
    throw new TypeError('"cookie" may be "plain" only on a loopback host without "origin"')
  const files = readStaticFiles()
  const node = createServer({
    headersTimeout: 5_000,
    requestTimeout: 15_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  })
  node.maxConnections = 1_000
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: bound } = node.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  const url = origin === undefined ? `http://${shown}:${bound}/` : origin.endsWith('/') ? origin : `${origin}/`
  const cookies = sessionCookie(cookie, origin === undefined ? bound : 'console')
  const serve = createRequestHandler(deps, {
    files,
    cookies,
    url: new URL(url),
    ...(origin !== undefined && { hosts: [new URL(origin).host] }),
  })
  node.on('request', (request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  return {
    url,
    server: node,
    async close() {
      const closed = new Promise<void>((resolve) => node.close(() => resolve()))
      node.closeAllConnections()
      await closed
    },
  }
}

interface ServeContext {
  readonly files: StaticFiles
  readonly cookies: SessionCookie
  readonly url: URL
  readonly hosts?: readonly string[]
}

function createRequestHandler(
  deps: ApiDeps,
  { files, cookies, url, hosts }: ServeContext,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { consoleState, operators, sessions } = deps
  const guard = createGuard(hosts ? { hosts } : {})
  const authenticate = createOperatorAuthenticator({ operators, sessions, cookies, store: consoleState.store })
  const base = url.pathname
  const api = createApi(deps, cookies, authenticate)
  const webhookRoute = createWebhookRoute(consoleState)

  return async function serve(message, response) {
    const request = new NodeRequest(message)
    try {
      guard.check(request.host, request.header('origin'), request.port)
      const { pathname, query } = parseTarget(message.url)
      if (!`${pathname}/`.startsWith(base)) throw notFound()
      const path = pathname.slice(base.length)
      if (path === 'api' || path.startsWith('api/')) await api(request, response, `/${path}`, query)
      else if (path === webhookPath) await webhookRoute(request, response)
      else sendFile(request, response, { files, base, path })
    } catch (thrown) {
      sendError(consoleState.logger, response, thrown)
    }
  }
}

/** Accepts only a path, as browsers send it. `new URL` would read `//host` as another host, and throws on some targets. */
function parseTarget(target = ''): { readonly pathname: string; readonly query: URLSearchParams } {
  const at = target.indexOf('?')
  const pathname = at === -1 ? target : target.slice(0, at)
  if (!/^\/(?![/\\])[!-[\]-~]*$/.test(pathname))
    throw new RpcError('invalidRequest', 'The request target is not a path: start it with one slash')
  return { pathname, query: new URLSearchParams(at === -1 ? '' : target.slice(at + 1)) }
}

function sendFile(
  request: NodeRequest,
  response: ServerResponse,
  { files, base, path }: { readonly files: StaticFiles; readonly base: string; readonly path: string },
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new RpcError('methodNotAllowed', 'Method not allowed: use GET')
  const [, ticket] = /^approvals\/([\w~%-]{1,128})$/.exec(path) ?? []
  // The `url` of a ticket. The page keeps its location in the fragment.
  if (ticket !== undefined) {
    response.writeHead(303, { ...securityHeaders, ...noStore, location: `${base}#/approvals/${ticket}` }).end()
    return
  }
  const file = files.get(path)
  if (!file) throw notFound()
  const zipped = /\bgzip\b/.test(request.header('accept-encoding') ?? '')
  const body = zipped ? file.gzip : file.body
  const headers = { ...securityHeaders, ...file.headers, vary: 'accept-encoding', 'content-length': body.length }
  response.writeHead(200, zipped ? { ...headers, 'content-encoding': 'gzip' } : headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}
