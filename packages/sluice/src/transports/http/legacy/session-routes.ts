/**
 * The endpoint's routes for clients with a session: the handshake, messages, streams, and the end of the session.
 *
 * They are an option of the endpoint (`sessions()`), because few want them on the edge. There the next request may
 * reach another isolate.
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
import { PostResponse } from '../post-response.ts'
import type { Session, Sessions, SessionsOptions } from './sessions.ts'
import { createSessions, sessionVia } from './sessions.ts'

export interface SessionRoutes {
  readonly sessions: Sessions
  /** Whether a request of an earlier revision without a session is refused. Otherwise it is served without one. */
  readonly required: boolean
  /** Named after the routes that `routeOf` returns. */
  initialize(post: PostContext): Promise<void>
  session(post: PostContext): Promise<void>
  /** Serves a session's standalone stream (GET) or ends the session (DELETE). Throws the refusal. */
  handleGetOrDelete(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void>
}

export type CreateSessionRoutes = (
  server: TransportServer,
  responses: ResponseFactory,
  share: SessionsOptions['share'],
) => SessionRoutes

/** The lifetime and the number of sessions, and whether a client must have one. */
export interface SessionsSettings extends Partial<Pick<SessionsOptions, 'idleMs' | 'max'>> {
  /** `false` also serves requests without a session, for servers that never ask questions or send notifications. */
  readonly required?: boolean
}

/**
 * Sessions for clients of revisions before 2026-07-28. They are kept in memory, or in the store that processes share.
 */
export const sessions =
  ({ idleMs = 30 * 60_000, max = 10_000, required = true }: SessionsSettings = {}): CreateSessionRoutes =>
  (server, responses, share) =>
    createSessionRoutes(server, responses, createSessions(server, { idleMs, max, share }), required)

function createSessionRoutes(
  server: TransportServer,
  responses: ResponseFactory,
  sessions: Sessions,
  required: boolean,
): SessionRoutes {
  return {
    sessions,
    required,
    /** A failed handshake leaves no session behind. */
    async initialize(post) {
      const session = sessions.create(post.request.peer)
      const headers = { ...post.headers, 'mcp-session-id': session.id }
      const via = sessionVia(post.request, session)
      const response = new PostResponse({ ...post, headers }, responses, via, session)
      const text = await server.handleText(post.message, response)
      if (session.connection.state.agreed) await sessions.register(session)
      else session.connection.close()
      response.respond(text)
    },
    async session(post) {
      const session = await sessions.get(post.request.header('mcp-session-id'))
      const response = new PostResponse(post, responses, sessionVia(post.request, session), session)
      if (hasOneWay(post.message)) await server.authorizeConnection(response.via, undefined, methodOf(post.message))
      response.respond(await server.handleText(post.message, response))
    },
    async handleGetOrDelete(request, reply, headers) {
      // Throws for an unknown revision, which is refused for every HTTP method.
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
        throw new RpcError('notAcceptable', 'A GET opens a stream: accept text/event-stream')
      // An unavailable store costs notifications, never the stream.
      await server.eventsReady().catch(() => {})
      const open = (): EventWriter => new RevocableWriter(session, responses.openStream(reply, headers), stop)
      if (!(await session.resume(open, request.header('last-event-id'))))
        throw new RpcError('invalidRequest', 'Last-Event-ID is too old, or not of this session')
      reply.stopOnClose(stop)
    } catch (thrown) {
      stop.stop(streamClosed())
      throw thrown
    }
  }
}

/** Closes when its credential ends or its client disconnects, and then releases the session's stream. */
class RevocableWriter implements EventWriter {
  readonly #writer: EventWriter
  readonly #stop: Stop
  constructor(session: Session, writer: EventWriter, stop: Stop) {
    this.#writer = writer
    this.#stop = stop
    stop.onStop(() => {
      writer.close()
      session.standalone.writerClosed(this)
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

const streamClosed = (): RpcError => new RpcError('cancelled', 'The stream is closed')
