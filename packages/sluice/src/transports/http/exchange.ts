/**
 * Streamable HTTP, both eras on one endpoint, without knowing which HTTP it is: `node.ts` and `../fetch.ts` are thin
 * adapters around this.
 *
 * JSON unless something must stream: the first notification or question turns the response into events.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import { RpcError } from '../../core/error.ts'
import { frame, Unsound } from '../../core/frame.ts'
import { hasOneWay, isOneWay, routeOf } from '../../protocol/classify.ts'
import { featuresFor } from '../../protocol/dispatch.ts'
import { modernRevision } from '../../protocol/revisions.ts'
import type { Server } from '../../protocol/server.ts'
import type { Outlet, Posted } from './answering.ts'
import { Answering, statusFor } from './answering.ts'
import { challengeHeaders } from './challenge.ts'
import { corsFor, preflight } from './cors.ts'
import type { Sink } from './events.ts'
import { eventHeaders } from './events.ts'
import type { Admission, Gate, Knock, MakeGate } from './gate.ts'
import type { GuardOptions } from './guard.ts'
import { createGuard } from './guard.ts'
import { checkContentType, checkEncoding, parseAccept } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { json, noHeaders } from './message.ts'
import type { MakeSessions } from './session-routes.ts'
import type { Sessions, SessionsOptions } from './sessions.ts'
import type { ProtectedResource } from './well-known.ts'

/** Whom HTTP answers, and what it allows. */
export interface HttpOptions extends GuardOptions {
  /** `gate({ … })`: load is refused before a body is read. Left out, only connections are limited. */
  readonly gate?: MakeGate
  /** `protectedResource({ … })`: where tokens for this server come from, for challenges and the page that OAuth clients read. */
  readonly resource?: ProtectedResource
  /**
   * `sessions()`: for clients before 2026-07-28. Without it each of their requests stands alone and they cannot be asked
   * anything. Node has them unless this is `false`.
   */
  readonly sessions?: MakeSessions | false
  /** `sharedSessions` from `sluice/fetch`: processes with one store share sessions. Node does so by itself. */
  readonly share?: SessionsOptions['share']
  /** Bytes of one request body. */
  readonly maxBodyBytes?: number
  /** How often an open stream gets a comment, so that proxies do not take silence for death. */
  readonly keepAliveMs?: number
}

/** What other ways in share with the endpoint beside them: the same checks, the same sessions, the same load. */
export interface Around {
  readonly server: Server
  readonly sessions: Sessions | undefined
  readonly gate: Gate | undefined
  readonly maxBodyBytes: number
  /** Host and Origin; throws. What comes back are the headers for a page that is welcome. */
  check(request: HttpRequest): HttpHeaders
  openStream(reply: HttpReply, headers: HttpHeaders): Sink
  /** Counts a log or progress message that its reader was too slow for. */
  dropped(): void
  /** Answers with why, as status, headers and body. */
  refuse(thrown: unknown, request: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void
}

export interface Exchange {
  readonly around: Around
  /** For each new connection: `undefined` if it must be closed, else what to call when it is. */
  connect(peer: string): (() => void) | undefined
  hasSession(id: string): boolean
  /** What is served beside MCP: the page that OAuth clients read. */
  readonly resource: ProtectedResource | undefined
  /** Never rejects. */
  serve(request: HttpRequest, reply: HttpReply): Promise<void>
  /** Streams that only wait end, so that their clients find another process. */
  letGo(): void
  /** Settles when other processes know that this one is gone. */
  close(): Promise<void>
}

const allow = 'GET, POST, DELETE'

export function createExchange(server: Server, options: HttpOptions = {}): Exchange {
  const { maxBodyBytes = 1024 * 1024, keepAliveMs = 15_000, resource } = options
  server.expose()
  const guard = createGuard(options)
  const hasSession = (id: string): boolean => sessions?.has(id) ?? false
  const gate = options.gate?.({ clock: server.clock, hasSession })
  if (gate) server.counts.push(...gate.counts)
  const headersFor = (error: RpcError): HttpHeaders => challengeHeaders(error, resource)
  /** Open streams, and how to call off what keeps each alive. */
  const live = new Map<Sink, () => void>()

  /** A timer for each: on workerd a request that waits for nothing of its own is taken for one that hangs. */
  function keepAlive(sink: Sink): void {
    if (sink.closed) live.delete(sink)
    else
      live.set(
        sink,
        server.clock.after(keepAliveMs, () => {
          sink.write(': keep-alive\n\n')
          keepAlive(sink)
        }),
      )
  }
  function openStream(reply: HttpReply, headers: HttpHeaders): Sink {
    const sink = reply.stream({ ...eventHeaders, ...headers }, () => {
      live.get(sink)?.()
      live.delete(sink)
    })
    keepAlive(sink)
    return sink
  }

  let drops = 0
  const dropped = (): void => {
    drops++
  }
  server.counts.push({
    name: 'sluice_messages_dropped_total',
    help: 'Logs and progress dropped because the client was behind.',
    type: 'counter',
    read: () => drops,
  })
  const outlet: Outlet = { openStream, headersFor, dropped }
  const legacy = options.sessions ? options.sessions(server, outlet, options.share) : undefined
  const sessions = legacy?.kept

  function check(request: HttpRequest): HttpHeaders {
    const origin = request.header('origin')
    guard.check(request.host, origin, request.port)
    return origin !== undefined && guard.allows(origin) ? corsFor(origin) : noHeaders
  }

  return {
    around: { server, sessions, gate, maxBodyBytes, check, openStream, dropped, refuse },
    resource,
    hasSession,
    connect: (peer) => (gate ? gate.connect(peer) : () => {}),
    serve(request, reply) {
      let headers = noHeaders
      try {
        headers = check(request)
        if (request.method === 'POST') return post(request, reply, headers)
        if (request.method === 'GET' || request.method === 'DELETE') return visit(request, reply, headers)
        if (request.method === 'OPTIONS' && headers !== noHeaders)
          reply.end(204, { ...headers, ...preflight(request, allow) })
        else throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here`)
      } catch (thrown) {
        refuse(thrown, request, reply, headers)
      }
      return done
    },
    letGo: () => sessions?.letGo(),
    async close() {
      // First: what calls had to say is still to be said.
      await sessions?.close()
      for (const [sink, callOff] of live) {
        callOff()
        sink.end()
      }
      live.clear()
    },
  }

  function refuse(thrown: unknown, via: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void {
    const status = thrown instanceof RpcError ? statusFor(thrown, featuresFor(message, via), message) : 500
    const why = thrown instanceof RpcError ? headersFor(thrown) : noHeaders
    reply.end(
      status,
      { ...json, ...(status === 405 && { allow }), ...headers, ...why },
      server.refuse(thrown, via, message),
    )
  }

  async function post(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    let message: unknown
    let admission: Admission | undefined
    let forget: (() => void) | undefined
    try {
      admission = gate && (await admit(gate, request))
      // By the connection, not by what awaits below: a promise that never settles must not keep the slot.
      forget = admission && request.onGone(admission.release)
      checkContentType(request.header('content-type'))
      checkEncoding(request.header('content-encoding'))
      const accepts = parseAccept(request.header('accept'))
      message = frame(await request.body(maxBodyBytes, admission?.tooLate))
      const shed = admission && (await admission.heard(isOneWay(message)))
      if (shed) throw shed
      const route = legacy ? routeOf(message, request) : 'alone'
      const posted: Posted = { request, message, accepts, reply, headers, admission }
      const isAlone = !legacy?.required && route === 'session' && request.header('mcp-session-id') === undefined
      if (legacy && route !== 'alone' && !isAlone) {
        // Calls of a session outlive their connection, and hold their slot as long as they run.
        forget?.()
        return await legacy[route](posted)
      }
      const answering = new Answering(posted, outlet)
      if (hasOneWay(message)) await server.admit(answering.via)
      answering.finish(await server.text(message, answering))
    } catch (thrown) {
      refuse(thrown, request, reply, headers, thrown instanceof Unsound ? thrown.value : message)
    } finally {
      forget?.()
      admission?.release()
    }
  }

  /** GET and DELETE exist for sessions only. */
  async function visit(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    try {
      if (!legacy || request.header('mcp-protocol-version')?.trim() === modernRevision)
        throw new RpcError('methodNotAllowed', `${request.method} is for sessions of earlier revisions; use POST`)
      await legacy.visit(request, reply, headers)
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
}

const done = Promise.resolve()

/** Throws the refusal. */
export async function admit(gate: Gate, request: Knock): Promise<Admission> {
  const admission = await gate.admit(request)
  if (admission instanceof RpcError) throw admission
  return admission
}
