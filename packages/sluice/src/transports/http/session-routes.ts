/**
 * What the endpoint does for clients with a session: the handshake, messages in it, its streams, its end.
 *
 * Handed to the endpoint made (`sessions()`): on the edge, where the next request may meet another isolate, few want it.
 */

import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import { createStop } from '../../core/stop.ts'
import { hasOneWay, legacyRevision, methodOf } from '../../protocol/classify.ts'
import type { Server } from '../../protocol/server.ts'
import type { Outlet, Posted } from './answering.ts'
import { Answering, inSession } from './answering.ts'
import type { Sink } from './events.ts'
import { parseAccept } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import type { Session, Sessions, SessionsOptions } from './sessions.ts'
import { createSessions } from './sessions.ts'

export interface SessionRoutes {
  readonly kept: Sessions
  /** Whether a request of an earlier revision without one is refused, or stands alone. */
  readonly required: boolean
  /** By what `routeOf` says of a message. */
  initialize(posted: Posted): Promise<void>
  session(posted: Posted): Promise<void>
  /** A session's standing stream, or its end. Throws the refusal. */
  visit(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void>
}

export type MakeSessions = (server: Server, outlet: Outlet, share: SessionsOptions['share']) => SessionRoutes

/** How long, how many, and whether a client must have one. */
export interface SessionsSettings extends Partial<Pick<SessionsOptions, 'idleMs' | 'max'>> {
  /** `false` also serves requests without a session, each alone: for servers that never ask or announce anything. */
  readonly required?: boolean
}

/** Sessions of clients before 2026-07-28, kept in memory or, where processes share a store, there. */
export const sessions =
  ({ idleMs = 30 * 60_000, max = 10_000, required = true }: SessionsSettings = {}): MakeSessions =>
  (server, outlet, share) =>
    createRoutes(server, outlet, createSessions(server, { idleMs, max, share }), required)

function createRoutes(server: Server, outlet: Outlet, kept: Sessions, required: boolean): SessionRoutes {
  return {
    kept,
    required,
    /** One that fails leaves no session behind. */
    async initialize(posted) {
      const session = kept.create(posted.request.peer)
      const headers = { ...posted.headers, 'mcp-session-id': session.id }
      const answering = new Answering({ ...posted, headers }, outlet, session)
      const text = await server.text(posted.message, answering)
      if (session.connection.state.agreed) await kept.keep(session)
      else session.connection.close()
      answering.finish(text)
    },
    async session(posted) {
      const session = await kept.get(posted.request.header('mcp-session-id'))
      const answering = new Answering(posted, outlet, session)
      if (hasOneWay(posted.message)) await server.admit(answering.via, undefined, methodOf(posted.message))
      answering.finish(await server.text(posted.message, answering))
    },
    async visit(request, reply, headers) {
      // Throws for a version nobody serves: that is refused whatever the HTTP method.
      legacyRevision(request)
      const session = await kept.get(request.header('mcp-session-id'))
      if (request.method === 'GET') return resume(session, request, reply, headers)
      await server.admit(inSession(request, session))
      await kept.end(session)
      reply.end(204, headers)
    },
  }

  async function resume(session: Session, request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    const stop = createStop()
    try {
      await server.admit(inSession(request, session), stop)
      if (!parseAccept(request.header('accept')).events)
        throw new RpcError('notAcceptable', 'A GET here is a stream: accept text/event-stream')
      // A store that is away costs notifications, never the stream.
      await server.listening().catch(() => {})
      const open = (): Sink => new Stoppable(session, outlet.openStream(reply, headers), stop)
      if (!(await session.resume(open, request.header('last-event-id'))))
        throw new RpcError('invalidRequest', 'Last-Event-ID is not of this session, or too old')
      reply.onGone(stop)
    } catch (thrown) {
      stop.stop(over())
      throw thrown
    }
  }
}

/** Ends with its credential and with its client, and is then nobody's any more. */
class Stoppable implements Sink {
  readonly #sink: Sink
  readonly #stop: Stop
  constructor(session: Session, sink: Sink, stop: Stop) {
    this.#sink = sink
    this.#stop = stop
    stop.onStop(() => {
      sink.end()
      session.left(this)
    })
  }
  write(text: string): void {
    this.#sink.write(text)
  }
  end(): void {
    this.#sink.end()
    this.#stop.stop(over())
  }
  get closed(): boolean {
    return this.#sink.closed
  }
  get behind(): boolean {
    return this.#sink.behind ?? false
  }
}

const over = (): RpcError => new RpcError('cancelled', 'The stream has ended')
