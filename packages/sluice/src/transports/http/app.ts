/** Everything one server serves over HTTP: its endpoint, the other transports, and pages such as health and metrics. */

import type { Page } from '../../core/plugin.ts'
import type { TransportServer } from '../../protocol/server.ts'
import type { HttpEndpoint, HttpOptions } from './endpoint.ts'
import { createEndpoint } from './endpoint.ts'
import type { HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'
import type { RequestHandler, RouteFactory } from './routes.ts'

/** The HTTP options of one server. */
export interface HttpAppOptions extends HttpOptions {
  /** Serves the transport of 2024-11-05 beside the endpoint: `sse()` from `sluice/sse`. */
  readonly sse?: RouteFactory
}

export interface HttpApp extends HttpEndpoint {
  readonly server: TransportServer
  readonly routes: Map<string, RequestHandler>
  /**
   * Serves a request inside another framework's router. A transport matches by the end of the path, a page by the whole
   * path; the rest is MCP.
   */
  readonly serveMounted: RequestHandler
  /**
   * The page that OAuth clients read, by its whole path. It is at the root of the host too if the server is `alone`
   * there.
   */
  resourcePage(path: string, request: HttpRequest, alone: boolean): Page | undefined
  /** Health and metrics, by the path below the mount point. `undefined` if there is no such page. */
  page(path: string, request: HttpRequest): Promise<Page | undefined>
}

/** `readerOf` returns the peer that reads a page. By default it is unknown, because edge runtimes do not reveal it. */
export function createHttpApp(
  server: TransportServer,
  options: HttpAppOptions,
  readerOf: (request: HttpRequest, endpoint: HttpEndpoint) => string = () => '',
): HttpApp {
  const endpoint = createEndpoint(server, options)
  const { resource } = endpoint
  const routes = new Map(options.sse?.(endpoint.context))

  function resourcePage(path: string, request: HttpRequest, alone: boolean): Page | undefined {
    if (!resource || !isReadMethod(request)) return undefined
    const index = resource.paths.indexOf(path)
    return index === 0 || (index > 0 && alone) ? { status: 200, ...resource } : undefined
  }
  const page = async (path: string, request: HttpRequest): Promise<Page | undefined> =>
    isReadMethod(request)
      ? server.page(path, readerOf(request, endpoint), request.url.slice(pathOf(request.url).length + 1))
      : undefined
  function serveMounted(request: HttpRequest, reply: HttpReply): Promise<void> {
    const path = pathOf(request.url)
    for (const [suffix, serve] of routes) if (path.endsWith(suffix)) return serve(request, reply)
    return request.method === 'POST' ? endpoint.serve(request, reply) : servePage(path, request, reply)
  }
  async function servePage(path: string, request: HttpRequest, reply: HttpReply): Promise<void> {
    try {
      const found = resourcePage(path, request, true) ?? (await page(path, request))
      if (found) reply.send(found.status, found.headers, found.body)
      else await endpoint.serve(request, reply)
    } catch (thrown) {
      endpoint.context.refuse(thrown, request, reply, noHeaders)
    }
  }
  return { ...endpoint, server, routes, serveMounted, resourcePage, page }
}

const isReadMethod = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** Returns the path of a URL, without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
