/** All that one server answers over HTTP: its endpoint, the other ways in, and what is read beside MCP. */

import type { Page } from '../../core/plugin.ts'
import type { TransportServer } from '../../protocol/server.ts'
import type { HttpEndpoint, HttpOptions } from './endpoint.ts'
import { createEndpoint } from './endpoint.ts'
import type { HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'
import type { RequestHandler, RouteFactory } from './routes.ts'

/** What HTTP does for one server. */
export interface HttpAppOptions extends HttpOptions {
  /** The transport of 2024-11-05 beside the endpoint: `sse()` from `sluice/sse`. */
  readonly sse?: RouteFactory
}

export interface HttpApp extends HttpEndpoint {
  readonly server: TransportServer
  readonly routes: Map<string, RequestHandler>
  /** For what is mounted into somebody else's router: a way by the end of its path, a page by all of it, else MCP. */
  readonly serveMounted: RequestHandler
  /** What OAuth clients read, by its whole path; at the root of the host too where the server is `alone` on it. */
  resourcePage(path: string, request: HttpRequest, alone: boolean): Page | undefined
  /** Health and metrics: `path` is without what the server is mounted at. `undefined` where there is no such page. */
  page(path: string, request: HttpRequest): Promise<Page | undefined>
}

export function createHttpApp(server: TransportServer, options: HttpAppOptions): HttpApp {
  const exchange = createEndpoint(server, options)
  const { resource } = exchange
  const routes = new Map(options.sse?.(exchange.context))

  function resourcePage(path: string, request: HttpRequest, alone: boolean): Page | undefined {
    if (!resource || !isReadMethod(request)) return undefined
    const at = resource.paths.indexOf(path)
    return at === 0 || (at > 0 && alone) ? { status: 200, ...resource } : undefined
  }
  const page = async (path: string, request: HttpRequest): Promise<Page | undefined> =>
    isReadMethod(request) ? server.page(path, request.peer) : undefined
  function serveMounted(request: HttpRequest, reply: HttpReply): Promise<void> {
    if (request.method === 'POST' && routes.size === 0) return exchange.serve(request, reply)
    const path = pathOf(request.url)
    for (const [end, serve] of routes) if (path.endsWith(end)) return serve(request, reply)
    return request.method === 'POST' ? exchange.serve(request, reply) : visit(path, request, reply)
  }
  async function visit(path: string, request: HttpRequest, reply: HttpReply): Promise<void> {
    try {
      const found = resourcePage(path, request, true) ?? (await page(path, request))
      if (found) reply.send(found.status, found.headers, found.body)
      else await exchange.serve(request, reply)
    } catch (thrown) {
      exchange.context.refuse(thrown, request, reply, noHeaders)
    }
  }
  return { ...exchange, server, routes, serveMounted, resourcePage, page }
}

const isReadMethod = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** Without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
