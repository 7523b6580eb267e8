/**
 * HTTP+SSE, the transport of 2024-11-05, for clients that support no other. It has one stream for everything the server
 * sends, and a POST for each message of the client. It runs beside Streamable HTTP on the same port, with the same
 * checks and the same table of sessions.
 *
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */

import { bugOf, RpcError } from '../../../core/error.ts'
import { frame, UnsafeMessage } from '../../../core/frame.ts'
import { createStop } from '../../../core/stop.ts'
import { isDroppable, isOneWay } from '../../../protocol/classify.ts'
import { subscriptionEnded } from '../../../protocol/subscriptions.ts'
import type { Admission } from '../admission.ts'
import { pathOf } from '../app.ts'
import type { EndpointContext } from '../endpoint.ts'
import { admitOrThrow } from '../endpoint.ts'
import { checkContentType, checkEncoding, parseAccept } from '../media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from '../message.ts'
import type { RouteFactory } from '../routes.ts'
import { createRoute } from '../routes.ts'
import type { Session, Sessions } from './sessions.ts'
import { sessionVia } from './sessions.ts'

/** The paths of the two routes. */
export interface SseOptions {
  /** The path of the stream, by default `/sse`. */
  readonly path?: string
  /** The path of messages, beside the stream, by default `/messages`. */
  readonly messages?: string
  /**
   * The whole path by which clients reach `messages`. It is needed behind a proxy that strips a prefix, because then
   * the path cannot be derived from the stream's.
   */
  readonly endpoint?: string
}

/** Serves the transport of 2024-11-05 beside the endpoint: `serveHttp(server, { sse: sse() })`. */
export const sse =
  ({ path = '/sse', messages = '/messages', endpoint }: SseOptions = {}): RouteFactory =>
  (context) => {
    const { server, admissionControl, maxBodyBytes, openStream, countDropped, refuse } = context
    const sessions = requireSessions(context)

    /** Opens the stream, which is the session: it ends with the stream, and with the credential that opened it. */
    async function open(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
      if (!parseAccept(request.header('accept')).events)
        throw new RpcError('notAcceptable', 'A GET opens a stream: accept text/event-stream')
      if (admissionControl) await admitOrThrow(admissionControl, request)
      const session = sessions.create(request.peer, 'sse')
      const closed = createStop()
      try {
        reply.stopOnClose(closed)
        await server.authorizeConnection(sessionVia(request, session), closed)
        // An unavailable store costs notifications. `register` decides whether it costs the session.
        await server.eventsReady().catch(() => {})
        if (closed.reason) throw closed.reason
        await sessions.register(session)
      } catch (thrown) {
        session.connection.close()
        throw thrown
      }
      if (closed.reason) {
        // The client disconnected while the session was being stored. Otherwise its listener would stay for ever.
        await sessions.closeSession(session)
        throw closed.reason
      }
      closed.onStop(() => {
        // An unavailable store must not end this process. The session then expires by its time to live.
        sessions
          .closeSession(session)
          .catch((thrown: unknown) => server.logger.warn({ event: 'sessionNotEnded', ...bugOf(thrown) }))
      })
      const writer = openStream(reply, headers)
      // A bare URI, not JSON. Clients resolve it against the address of the stream.
      writer.write(`event: endpoint\ndata: ${endpoint ?? messagesPath(request.url)}?sessionId=${session.id}\n\n`)
      session.standalone.attach(writer)
    }
    const messagesPath = (url: string): string => pathOf(url).slice(0, -path.length) + messages

    async function receive(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
      let message: unknown
      let admission: Admission | undefined
      try {
        const id = new URLSearchParams(request.url.slice(pathOf(request.url).length)).get('sessionId') ?? undefined
        admission = admissionControl && (await admitOrThrow(admissionControl, withSession(request, id)))
        checkContentType(request.header('content-type'))
        checkEncoding(request.header('content-encoding'))
        message = frame(await request.body(maxBodyBytes, admission?.tooLate))
        const shed = admission && (await admission.recheck(isOneWay(message)))
        if (shed) throw shed
        const session = await sessions.get(id, 'sse')
        await server.authorizeConnection(sessionVia(request, session))
        // This response only confirms receipt. The answer goes to the stream.
        reply.send(202, headers, 'Accepted')
        await answer(request, session, message, admission)
      } catch (thrown) {
        refuse(thrown, request, reply, headers, thrown instanceof UnsafeMessage ? thrown.value : message)
      } finally {
        admission?.release()
      }
    }
    async function answer(
      request: HttpRequest,
      session: Session,
      message: unknown,
      admission: Admission | undefined,
    ): Promise<void> {
      let stays = false
      const text = await server.handleText(message, {
        via: sessionVia(request, session),
        send(sent) {
          if (session.standalone.behind && isDroppable(sent)) countDropped()
          else session.send(JSON.stringify(sent))
        },
        stayOpen() {
          stays = true
          admission?.release()
        },
      })
      if (text !== null) session.send(text)
      if (text !== null && stays) session.send(subscriptionEnded(message))
    }

    return new Map([
      [path, createRoute('GET', context, open)],
      [messages, createRoute('POST', context, receive)],
    ])
  }

function requireSessions({ sessions }: EndpointContext): Sessions {
  if (!sessions) throw new TypeError('"sse" needs sessions: add sessions: sessions() to the options')
  return sessions
}

/** Shows the session's id as a header, because admission control looks for it there. */
const withSession = (request: HttpRequest, id: string | undefined): Parameters<typeof admitOrThrow>[1] => ({
  method: request.method,
  peer: request.peer,
  header: (name) => (name === 'mcp-session-id' ? id : request.header(name)),
  onClose: (then) => request.onClose(then),
})
