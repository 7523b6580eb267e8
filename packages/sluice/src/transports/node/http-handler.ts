/** One server on `node:http`, for mounting into a server of your own: the fast path. `listen.ts` is for the rest. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Server, TransportServer } from '../../protocol/server.ts'
import { toTransportServer } from '../../protocol/server.ts'
import type { HttpApp, HttpAppOptions } from '../http/app.ts'
import { createHttpApp, pathOf } from '../http/app.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { sessions } from '../http/legacy/session-routes.ts'
import { sharedSessions } from '../http/legacy/shared-sessions.ts'
import type { RequestHandler } from '../http/routes.ts'
import { NodeReply, NodeRequest, notFoundPage, replyOnSocket } from './http-message.ts'
import { whenResponseIsNext } from './pipelining.ts'
import type { UnsentTracker } from './unsent-tracker.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** Sockets beside the endpoint, made of what they share with it. */
export type SocketTransport = (around: EndpointContext, unsent: UnsentTracker) => SocketServer
/** What serves WebSockets on Node. */
export interface SocketServer {
  readonly path: string
  /** For requests that do not ask for a socket. */
  readonly handlePlainRequest: RequestHandler
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Those on which no call is under way end, so that their clients find another process. */
  detach(): void
  close(): void
}

/** What HTTP does for one server on Node. */
export interface NodeHttpOptions extends HttpAppOptions {
  /** Where the endpoint is: `/mcp` unless said. */
  readonly path?: string
  /** `websocket()` from `sluice/websocket`. */
  readonly websocket?: SocketTransport
}

export interface NodeHttpApp extends HttpApp {
  readonly sockets: SocketServer | undefined
  /** For the `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export function createNodeHttpApp(
  server: TransportServer,
  options: NodeHttpOptions,
  unsent: UnsentTracker,
): NodeHttpApp {
  server.gauges.push(...unsent.gauges)
  const site = createHttpApp(server, { sessions: sessions(), share: sharedSessions, ...options })
  const sockets = options.websocket?.(site.context, unsent)
  if (sockets) site.routes.set(sockets.path, sockets.handlePlainRequest)
  return {
    ...site,
    sockets,
    upgrade(request, socket, head) {
      if (sockets && pathOf(request.url ?? '').endsWith(sockets.path)) sockets.upgrade(request, socket, head)
      else replyOnSocket(request, socket).send(notFoundPage.status, notFoundPage.headers, notFoundPage.body)
    },
    detach() {
      sockets?.detach()
      site.detach()
    },
    async close() {
      sockets?.close()
      await site.close()
    },
  }
}

/** A request listener for `node:http`, with what a program that mounts it needs. */
export interface NodeHandler extends Pick<NodeHttpApp, 'admitConnection' | 'resource' | 'upgrade'> {
  (request: IncomingMessage, response: ServerResponse): void
  /**
   * For the `checkContinue` event: a client that asks before it sends a body is refused or told to go on. Without it Node
   * tells every client to go on before anything was checked.
   */
  checkContinue(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** For mounting into a server of your own. */
export function createHttpHandler(server: Server, options: NodeHttpOptions = {}): NodeHandler {
  const unsent = createUnsentTracker({ clock: server.clock })
  const app = createNodeHttpApp(toTransportServer(server), options, unsent)
  const { serveMounted, close, admitConnection, resource, upgrade } = app
  const take = (request: IncomingMessage, response: ServerResponse, asksFirst: boolean): void =>
    whenResponseIsNext(request, response, () => {
      const reply = new NodeReply(response, unsent)
      const asked = new NodeRequest(request, asksFirst ? () => reply.sendContinue() : undefined)
      serveMounted(asked, reply).catch(() => response.destroy())
    })
  const handler = (request: IncomingMessage, response: ServerResponse): void => take(request, response, false)
  const checkContinue = (request: IncomingMessage, response: ServerResponse): void => take(request, response, true)
  return Object.assign(handler, { checkContinue, close, admitConnection, resource, upgrade })
}
