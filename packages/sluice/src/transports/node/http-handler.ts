/** One server on `node:http`, to mount into your own HTTP server. `listen.ts` opens a port. */

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
import { closeEarlyUpgrade, whenResponseIsNext } from './pipelining.ts'
import type { UnsentTracker } from './unsent-tracker.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** Creates the sockets beside the endpoint, from the endpoint's context. */
export type SocketTransport = (context: EndpointContext, unsent: UnsentTracker) => SocketServer
/** Serves WebSockets on Node. */
export interface SocketServer {
  readonly path: string
  /** Answers requests on this path that do not ask for a socket. */
  readonly handlePlainRequest: RequestHandler
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes sockets without running calls, so that their clients reconnect to another process. */
  detach(): void
  close(): void
}

/** The HTTP options of one server on Node. */
export interface NodeHttpOptions extends HttpAppOptions {
  /** The path of the endpoint, by default `/mcp`. */
  readonly path?: string
  /** Serves WebSockets: `websocket()` from `sluice/websocket`. */
  readonly websocket?: SocketTransport
}

export interface NodeHttpApp extends HttpApp {
  readonly sockets: SocketServer | undefined
  /** Handles the `upgrade` event of `node:http`. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

export function createNodeHttpApp(
  server: TransportServer,
  options: NodeHttpOptions,
  unsent: UnsentTracker,
): NodeHttpApp {
  server.gauges.push(...unsent.gauges)
  const app = createHttpApp(server, { sessions: sessions(), share: sharedSessions, ...options })
  const sockets = options.websocket?.(app.context, unsent)
  if (sockets) app.routes.set(sockets.path, sockets.handlePlainRequest)
  return {
    ...app,
    sockets,
    upgrade(request, socket, head) {
      if (closeEarlyUpgrade(request, socket)) return
      if (sockets && pathOf(request.url ?? '').endsWith(sockets.path)) sockets.upgrade(request, socket, head)
      else replyOnSocket(request, socket).send(notFoundPage.status, notFoundPage.headers, notFoundPage.body)
    },
    detach() {
      sockets?.detach()
      app.detach()
    },
    async close() {
      sockets?.close()
      await app.close()
    },
  }
}

/** A request listener for `node:http`, with the other functions that a program needs to mount it. */
export interface NodeHandler extends Pick<NodeHttpApp, 'admitConnection' | 'resource' | 'upgrade'> {
  (request: IncomingMessage, response: ServerResponse): void
  /**
   * Handles the `checkContinue` event: refuses a client that asks before it sends a body, or tells it to continue.
   * Without it Node tells every client to continue before any check.
   */
  checkContinue(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** Creates a request listener, to mount into your own HTTP server. */
export function createHttpHandler(server: Server, options: NodeHttpOptions = {}): NodeHandler {
  const unsent = createUnsentTracker({ clock: server.clock })
  const app = createNodeHttpApp(toTransportServer(server), options, unsent)
  const { serveMounted, close, admitConnection, resource, upgrade } = app
  const handle = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void =>
    whenResponseIsNext(request, response, () => {
      const reply = new NodeReply(response, unsent)
      const httpRequest = new NodeRequest(request, expectsContinue ? () => reply.sendContinue() : undefined)
      serveMounted(httpRequest, reply).catch(() => response.destroy())
    })
  const handler = (request: IncomingMessage, response: ServerResponse): void => handle(request, response, false)
  const checkContinue = (request: IncomingMessage, response: ServerResponse): void => handle(request, response, true)
  return Object.assign(handler, { checkContinue, close, admitConnection, resource, upgrade })
}
