/**
 * HTTP+SSE, the transport of 2024-11-05, for clients that never learned another: one stream for everything the server
 * says, and a POST for everything the client does. It stands beside Streamable HTTP, on the same port, with the same
 * checks and in the same table of sessions.
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
import { sessionVia } from '../post-response.ts'
import type { RouteFactory } from '../routes.ts'
import { createRoute } from '../routes.ts'
import type { Session, Sessions } from './sessions.ts'

/** Where the two routes of the transport are. */
export interface SseOptions {
  /** Where the stream is: `/sse` unless said. */
  readonly path?: string
  /** Where messages go: `/messages` unless said, beside the stream. */
  readonly messages?: string
  /**
   * The whole path that clients reach `messages` by, where it cannot be told from the stream's: behind a proxy that cuts
   * something off.
   */
  readonly endpoint?: string
}

/** The transport of 2024-11-05, beside the endpoint: `serveHttp(server, { sse: sse() })`. */
export const sse =
  ({ path = '/sse', messages = '/messages', endpoint }: SseOptions = {}): RouteFactory =>
  (around) => {
    const { server, admissionControl, maxBodyBytes, openStream, countDropped, refuse } = around
    const sessions = requireSessions(around)

    /** The session is the stream: it begins and ends with it, and with the credential that opened it. */
    async function open(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
      if (!parseAccept(request.header('accept')).events)
        throw new RpcError('notAcceptable', 'A GET here is a stream: accept text/event-stream')
      if (admissionControl) await admitOrThrow(admissionControl, request)
      const session = sessions.create(request.peer, 'sse')
      const gone = createStop()
      try {
        reply.stopOnClose(gone)
        await server.authorizeConnection(sessionVia(request, session), gone)
        // A store that is away costs notifications; whether it costs the session, `register` decides.
        await server.eventsReady().catch(() => {})
        if (gone.reason) throw gone.reason
        await sessions.register(session)
      } catch (thrown) {
        session.connection.close()
        throw thrown
      }
      if (gone.reason) {
        // The client left while the session was being kept: without a client, its listener would stay for good.
        await sessions.closeSession(session)
        throw gone.reason
      }
      gone.onStop(() => {
        // A store that is away must not end this process: the session then ends by its time to live.
        sessions
          .closeSession(session)
          .catch((thrown: unknown) => server.logger.warn({ event: 'sessionNotEnded', ...bugOf(thrown) }))
      })
      const sink = openStream(reply, headers)
      // A bare URI, and not JSON: the clients resolve it against the address of the stream.
      sink.write(`event: endpoint\ndata: ${endpoint ?? beside(request.url)}?sessionId=${session.id}\n\n`)
      session.attach(sink)
    }
    const beside = (url: string): string => pathOf(url).slice(0, -path.length) + messages

    async function take(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
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
        // Received is all that is said here. What comes of it is said on the stream.
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
          if (session.behind && isDroppable(sent)) countDropped()
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
      [path, createRoute('GET', around, open)],
      [messages, createRoute('POST', around, take)],
    ])
  }

function requireSessions({ sessions }: EndpointContext): Sessions {
  if (!sessions) throw new TypeError('sse needs sessions: add sessions: sessions() to the options')
  return sessions
}

/** The gate looks for a session where the other transport has it. */
const withSession = (request: HttpRequest, id: string | undefined): Parameters<typeof admitOrThrow>[1] => ({
  method: request.method,
  peer: request.peer,
  header: (name) => (name === 'mcp-session-id' ? id : request.header(name)),
  onClose: (then) => request.onClose(then),
})
