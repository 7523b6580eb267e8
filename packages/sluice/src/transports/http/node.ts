/** One server on `node:http`, for mounting into a server of your own: the fast path. `listen.ts` is for the rest. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Server } from '../../protocol/server.ts'
import type { Around } from './exchange.ts'
import { NodeReply, NodeRequest, notHere, replyOn } from './node-message.ts'
import { whenNext } from './pipelined.ts'
import { sessions } from './session-routes.ts'
import { sharedSessions } from './shared-sessions.ts'
import type { Site, SiteOptions } from './site.ts'
import { createSite, pathOf } from './site.ts'
import type { Unsent } from './unsent.ts'
import { createUnsent } from './unsent.ts'
import type { Serve } from './way.ts'

/** Sockets beside the endpoint, made of what they share with it. */
export type SocketWay = (around: Around, unsent: Unsent) => Sockets
/** What serves WebSockets on Node. */
export interface Sockets {
  readonly path: string
  /** For requests that do not ask for a socket. */
  readonly plain: Serve
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Those on which no call is under way end, so that their clients find another process. */
  letGo(): void
  close(): void
}

/** What HTTP does for one server on Node. */
export interface NodeSiteOptions extends SiteOptions {
  /** Where the endpoint is: `/mcp` unless said. */
  readonly path?: string
  /** `websocket()` from `sluice/websocket`. */
  readonly websocket?: SocketWay
}

export interface NodeSite extends Site {
  readonly sockets: Sockets | undefined
  /** For the `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export function createNodeSite(server: Server, options: NodeSiteOptions, unsent: Unsent): NodeSite {
  server.counts.push(...unsent.counts)
  const site = createSite(server, { sessions: sessions(), share: sharedSessions, ...options })
  const sockets = options.websocket?.(site.around, unsent)
  if (sockets) site.ways.set(sockets.path, sockets.plain)
  return {
    ...site,
    sockets,
    upgrade(request, socket, head) {
      if (sockets && pathOf(request.url ?? '').endsWith(sockets.path)) sockets.upgrade(request, socket, head)
      else replyOn(request, socket).end(notHere.status, notHere.headers, notHere.body)
    },
    letGo() {
      sockets?.letGo()
      site.letGo()
    },
    async close() {
      sockets?.close()
      await site.close()
    },
  }
}

/** A request listener for `node:http`, with what a program that mounts it needs. */
export interface NodeHandler extends Pick<NodeSite, 'connect' | 'resource' | 'upgrade'> {
  (request: IncomingMessage, response: ServerResponse): void
  /**
   * For the `checkContinue` event: a client that asks before it sends a body is refused or told to go on. Without it Node
   * tells every client to go on before anything was checked.
   */
  checkContinue(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** For mounting into a server of your own. */
export function createHttpHandler(server: Server, options: NodeSiteOptions = {}): NodeHandler {
  const unsent = createUnsent({ clock: server.clock })
  const { mounted, close, connect, resource, upgrade } = createNodeSite(server, options, unsent)
  const take = (request: IncomingMessage, response: ServerResponse, asksFirst: boolean): void =>
    whenNext(request, response, () => {
      const reply = new NodeReply(response, unsent)
      const asked = new NodeRequest(request, asksFirst ? () => reply.goOn() : undefined)
      mounted(asked, reply).catch(() => response.destroy())
    })
  const handler = (request: IncomingMessage, response: ServerResponse): void => take(request, response, false)
  const checkContinue = (request: IncomingMessage, response: ServerResponse): void => take(request, response, true)
  return Object.assign(handler, { checkContinue, close, connect, resource, upgrade })
}
