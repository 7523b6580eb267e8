/**
 * Streamable HTTP, both eras on one endpoint, without knowing which HTTP it is: `node.ts` and `../fetch.ts` are thin
 * adapters around this.
 *
 * JSON unless something must stream: the first notification or question turns the response into events.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import { RpcError } from '../../core/error.ts'
import { frame, Unsound } from '../../core/frame.ts'
import { legacyRevision, routeOf } from '../../protocol/classify.ts'
import { featuresFor } from '../../protocol/dispatch.ts'
import { modernRevision } from '../../protocol/revisions.ts'
import type { Server } from '../../protocol/server.ts'
import type { Posted } from './answering.ts'
import { Answering, statusFor } from './answering.ts'
import { corsFor, preflight } from './cors.ts'
import type { Sink } from './events.ts'
import { eventHeaders } from './events.ts'
import type { GuardOptions } from './guard.ts'
import { createGuard } from './guard.ts'
import { checkContentType, checkEncoding, parseAccept } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { json, noHeaders } from './message.ts'
import type { Session, Sessions } from './sessions.ts'
import { createSessions } from './sessions.ts'

export interface HttpOptions extends GuardOptions {
  /** Sessions for clients before 2026-07-28. Off, each of their requests stands alone and they cannot be asked anything. */
  readonly sessions?: boolean
  /** A session without a word from its client ends after this. */
  readonly sessionIdleMs?: number
  readonly maxSessions?: number
  /** Bytes of one request body. */
  readonly maxBodyBytes?: number
  /** How often an open stream gets a comment, so that proxies do not take silence for death. */
  readonly keepAliveMs?: number
}

export interface Exchange {
  /** Never rejects. */
  serve(request: HttpRequest, reply: HttpReply): Promise<void>
  close(): void
}

const allow = 'GET, POST, DELETE'

export function createExchange(server: Server, options: HttpOptions = {}): Exchange {
  const {
    maxBodyBytes = 1024 * 1024,
    keepAliveMs = 15_000,
    sessionIdleMs = 30 * 60_000,
    maxSessions = 10_000,
  } = options
  const guard = createGuard(options)
  const sessions =
    options.sessions === false ? undefined : createSessions(server, { idleMs: sessionIdleMs, max: maxSessions })
  const live = new Set<Sink>()
  let callOff: (() => void) | undefined

  /** One timer for all streams, and none while there are none. */
  function keepAlive(): void {
    callOff = undefined
    for (const sink of live)
      if (sink.closed) live.delete(sink)
      else sink.write(': keep-alive\n\n')
    if (live.size > 0) callOff = server.clock.after(keepAliveMs, keepAlive)
  }
  function openStream(reply: HttpReply, headers: HttpHeaders): Sink {
    const sink = reply.stream({ ...eventHeaders, ...headers })
    live.add(sink)
    callOff ??= server.clock.after(keepAliveMs, keepAlive)
    return sink
  }

  return {
    serve(request, reply) {
      let headers = noHeaders
      try {
        const origin = request.header('origin')
        guard.check(request.host, origin, request.port)
        if (origin !== undefined && guard.allows(origin)) headers = corsFor(origin)
        if (request.method === 'POST') return post(request, reply, headers)
        if (request.method === 'GET') get(request, reply, headers)
        else if (request.method === 'DELETE') end(request, reply, headers)
        else if (request.method === 'OPTIONS' && headers !== noHeaders)
          reply.end(204, { ...headers, ...preflight(request, allow) })
        else throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here`)
      } catch (thrown) {
        refuse(thrown, request, reply, headers)
      }
      return done
    },
    close() {
      callOff?.()
      sessions?.close()
      for (const sink of live) sink.end()
      live.clear()
    },
  }

  function refuse(thrown: unknown, via: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void {
    const status = thrown instanceof RpcError ? statusFor(thrown, featuresFor(message, via), message) : 500
    reply.end(status, { ...json, ...headers, ...(status === 405 && { allow }) }, server.refuse(thrown, via, message))
  }

  async function post(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    let message: unknown
    try {
      checkContentType(request.header('content-type'))
      checkEncoding(request.header('content-encoding'))
      const accepts = parseAccept(request.header('accept'))
      message = frame(await request.body(maxBodyBytes))
      const route = sessions ? routeOf(message, request) : 'alone'
      const posted: Posted = { request, message, accepts, reply, headers }
      if (route === 'initialize' && sessions) return await begin(sessions, posted)
      const session = route === 'session' ? sessions?.get(request.header('mcp-session-id')) : undefined
      const answering = new Answering(posted, openStream, session)
      answering.finish(await server.text(message, answering))
    } catch (thrown) {
      refuse(thrown, request, reply, headers, thrown instanceof Unsound ? thrown.value : message)
    }
  }

  /** The handshake. One that fails leaves no session behind. */
  async function begin(kept: Sessions, posted: Posted): Promise<void> {
    const session = kept.create()
    const headers = { ...posted.headers, 'mcp-session-id': session.id }
    const answering = new Answering({ ...posted, headers }, openStream, session)
    const text = await server.text(posted.message, answering)
    if (session.connection.agreed) kept.keep(session)
    else session.connection.close()
    answering.finish(text)
  }

  function get(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): void {
    const session = sessionOf(request)
    if (!parseAccept(request.header('accept')).events)
      throw new RpcError('notAcceptable', 'A GET here is a stream: accept text/event-stream')
    const last = request.header('last-event-id')
    const place = last === undefined ? { stream: session.standing, after: undefined } : session.find(last)
    if (!place) throw new RpcError('invalidRequest', 'Last-Event-ID is not of this session, or too old')
    place.stream.attach(openStream(reply, headers), place.after)
  }

  function end(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): void {
    const session = sessionOf(request)
    sessions?.end(session)
    reply.end(204, headers)
  }

  /** GET and DELETE exist for sessions only. */
  function sessionOf(request: HttpRequest): Session {
    if (!sessions || request.header('mcp-protocol-version')?.trim() === modernRevision)
      throw new RpcError('methodNotAllowed', `${request.method} is for sessions of earlier revisions; use POST`)
    // Throws for a version nobody serves: that is refused whatever the HTTP method.
    legacyRevision(request)
    return sessions.get(request.header('mcp-session-id'))
  }
}

const done = Promise.resolve()
