/**
 * What the endpoint does for clients with a session: the handshake, messages in it, its streams, its end.
 *
 * Handed to the endpoint made (`sessions()`): on the edge, where the next request may meet another isolate, few want it.
 */

import { RpcError } from '../../../core/error.ts'
import type { Stop } from '../../../core/stop.ts'
import { createStop } from '../../../core/stop.ts'
import { hasOneWay, legacyRevision, methodOf } from '../../../protocol/classify.ts'
import type { TransportServer } from '../../../protocol/server.ts'
import type { EventWriter } from '../events.ts'
import { parseAccept } from '../media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from '../message.ts'
import type { PostContext, ResponseFactory } from '../post-response.ts'
import { PostResponse, sessionVia } from '../post-response.ts'
import type { Session, Sessions, SessionsOptions } from './sessions.ts'
import { createSessions } from './sessions.ts'

export interface SessionRoutes {
  readonly sessions: Sessions
  /** Whether a request of an earlier revision without one is refused, or stands alone. */
  readonly required: boolean
  /** By what `routeOf` says of a message. */
  initialize(posted: PostContext): Promise<void>
  session(posted: PostContext): Promise<void>
  /** A session's standing stream, or its end. Throws the refusal. */
  handleGetOrDelete(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void>
}

export type CreateSessionRoutes = (
  server: TransportServer,
  outlet: ResponseFactory,
  share: SessionsOptions['share'],
) => SessionRoutes

/** How long, how many, and whether a client must have one. */
export interface SessionsSettings extends Partial<Pick<SessionsOptions, 'idleMs' | 'max'>> {
  /** `false` also serves requests without a session, each alone: for servers that never ask or announce anything. */
  readonly required?: boolean
}

/** Sessions of clients before 2026-07-28, kept in memory or, where processes share a store, there. */
export const sessions =
  ({ idleMs = 30 * 60_000, max = 10_000, required = true }: SessionsSettings = {}): CreateSessionRoutes =>
  (server, outlet, share) =>
    createSessionRoutes(server, outlet, createSessions(server, { idleMs, max, share }), required)

function createSessionRoutes(
  server: TransportServer,
  outlet: ResponseFactory,
  sessions: Sessions,
  required: boolean,
): SessionRoutes {
  return {
    sessions,
    required,
    /** One that fails leaves no session behind. */
    async initialize(posted) {
      const session = sessions.create(posted.request.peer)
      const headers = { ...posted.headers, 'mcp-session-id': session.id }
      const answering = new PostResponse({ ...posted, headers }, outlet, session)
      const text = await server.handleText(posted.message, answering)
      if (session.connection.state.agreed) await sessions.register(session)
      else session.connection.close()
      answering.respond(text)
    },
    async session(posted) {
      const session = await sessions.get(posted.request.header('mcp-session-id'))
      const answering = new PostResponse(posted, outlet, session)
      if (hasOneWay(posted.message))
        await server.authorizeConnection(answering.via, undefined, methodOf(posted.message))
      answering.respond(await server.handleText(posted.message, answering))
    },
    async handleGetOrDelete(request, reply, headers) {
      // Throws for a version nobody serves: that is refused whatever the HTTP method.
      legacyRevision(request)
      const session = await sessions.get(request.header('mcp-session-id'))
      if (request.method === 'GET') return resume(session, request, reply, headers)
      await server.authorizeConnection(sessionVia(request, session))
      await sessions.closeSession(session)
      reply.send(204, headers)
    },
  }

  async function resume(session: Session, request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    const stop = createStop()
    try {
      await server.authorizeConnection(sessionVia(request, session), stop)
      if (!parseAccept(request.header('accept')).events)
        throw new RpcError('notAcceptable', 'A GET here is a stream: accept text/event-stream')
      // A store that is away costs notifications, never the stream.
      await server.eventsReady().catch(() => {})
      const open = (): EventWriter => new RevocableWriter(session, outlet.openStream(reply, headers), stop)
      if (!(await session.resume(open, request.header('last-event-id'))))
        throw new RpcError('invalidRequest', 'Last-Event-ID is not of this session, or too old')
      reply.stopOnClose(stop)
    } catch (thrown) {
      stop.stop(streamClosed())
      throw thrown
    }
  }
}

/** Ends with its credential and with its client, and is then nobody's any more. */
class RevocableWriter implements EventWriter {
  readonly #writer: EventWriter
  readonly #stop: Stop
  constructor(session: Session, sink: EventWriter, stop: Stop) {
    this.#writer = sink
    this.#stop = stop
    stop.onStop(() => {
      sink.close()
      session.writerClosed(this)
    })
  }
  write(text: string): void {
    this.#writer.write(text)
  }
  close(): void {
    this.#writer.close()
    this.#stop.stop(streamClosed())
  }
  get closed(): boolean {
    return this.#writer.closed
  }
  get behind(): boolean {
    return this.#writer.behind ?? false
  }
}

const streamClosed = (): RpcError => new RpcError('cancelled', 'The stream has ended')
