/** All that one server answers over HTTP: its endpoint, the other ways in, and what is read beside MCP. */

import type { Page } from '../../core/part.ts'
import type { Server } from '../../protocol/server.ts'
import type { Exchange, HttpOptions } from './exchange.ts'
import { createExchange } from './exchange.ts'
import type { HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'
import type { Serve, Way } from './way.ts'

/** What HTTP does for one server. */
export interface SiteOptions extends HttpOptions {
  /** The transport of 2024-11-05 beside the endpoint: `sse()` from `sluice/sse`. */
  readonly sse?: Way
}

export interface Site extends Exchange {
  readonly server: Server
  readonly ways: Map<string, Serve>
  /** For what is mounted into somebody else's router: a way by the end of its path, a page by all of it, else MCP. */
  readonly mounted: Serve
  /** What OAuth clients read, by its whole path; at the root of the host too where the server is `alone` on it. */
  known(path: string, request: HttpRequest, alone: boolean): Page | undefined
  /** Health and metrics: `path` is without what the server is mounted at. `undefined` where there is no such page. */
  page(path: string, request: HttpRequest): Promise<Page | undefined>
}

export function createSite(server: Server, options: SiteOptions): Site {
  const exchange = createExchange(server, options)
  const { resource } = exchange
  const ways = new Map(options.sse?.(exchange.around))

  function known(path: string, request: HttpRequest, alone: boolean): Page | undefined {
    if (!resource || !isRead(request)) return undefined
    const at = resource.paths.indexOf(path)
    return at === 0 || (at > 0 && alone) ? { status: 200, ...resource } : undefined
  }
  const page = async (path: string, request: HttpRequest): Promise<Page | undefined> =>
    isRead(request) ? server.page(path, request.peer) : undefined
  function mounted(request: HttpRequest, reply: HttpReply): Promise<void> {
    if (request.method === 'POST' && ways.size === 0) return exchange.serve(request, reply)
    const path = pathOf(request.url)
    for (const [end, serve] of ways) if (path.endsWith(end)) return serve(request, reply)
    return request.method === 'POST' ? exchange.serve(request, reply) : visit(path, request, reply)
  }
  async function visit(path: string, request: HttpRequest, reply: HttpReply): Promise<void> {
    try {
      const found = known(path, request, true) ?? (await page(path, request))
      if (found) reply.end(found.status, found.headers, found.body)
      else await exchange.serve(request, reply)
    } catch (thrown) {
      exchange.around.refuse(thrown, request, reply, noHeaders)
    }
  }
  return { ...exchange, server, ways, mounted, known, page }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** Without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
