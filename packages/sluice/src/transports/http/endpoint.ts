/**
 * Streamable HTTP, both eras on one endpoint, without knowing which HTTP it is: `../node/http-handler.ts` and `../fetch.ts` are thin
 * adapters around this.
 *
 * JSON unless something must stream: the first notification or question turns the response into events.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import { RpcError } from '../../core/error.ts'
import { frame, UnsafeMessage } from '../../core/frame.ts'
import { hasOneWay, isOneWay, routeOf } from '../../protocol/classify.ts'
import { featuresFor } from '../../protocol/dispatch.ts'
import { modernRevision } from '../../protocol/revisions.ts'
import type { TransportServer } from '../../protocol/server.ts'
import type { Admission, AdmissionControl, AdmissionRequest, CreateAdmissionControl } from './admission.ts'
import { challengeHeaders } from './challenge.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import type { EventWriter } from './events.ts'
import { eventHeaders } from './events.ts'
import type { GuardOptions } from './guard.ts'
import { createGuard } from './guard.ts'
import type { CreateSessionRoutes } from './legacy/session-routes.ts'
import type { Sessions, SessionsOptions } from './legacy/sessions.ts'
import { checkContentType, checkEncoding, parseAccept } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { jsonHeaders, noHeaders } from './message.ts'
import type { PostContext, ResponseFactory } from './post-response.ts'
import { PostResponse, statusFor } from './post-response.ts'
import type { ProtectedResource } from './well-known.ts'

/** Whom HTTP answers, and what it allows. */
export interface HttpOptions extends GuardOptions {
  /** `admission({ … })`: load is refused before a body is read. Left out, only connections are limited. */
  readonly admission?: CreateAdmissionControl
  /** `protectedResource({ … })`: where tokens for this server come from, for challenges and the page that OAuth clients read. */
  readonly resource?: ProtectedResource
  /**
   * `sessions()`: for clients before 2026-07-28. Without it each of their requests stands alone and they cannot be asked
   * anything. Node has them unless this is `false`.
   */
  readonly sessions?: CreateSessionRoutes | false
  /** `sharedSessions` from `sluice/fetch`: processes with one store share sessions. Node does so by itself. */
  readonly share?: SessionsOptions['share']
  /** Bytes of one request body. */
  readonly maxBodyBytes?: number
  /** How often an open stream gets a comment, so that proxies do not take silence for death. */
  readonly keepAliveMs?: number
}

/** What other ways in share with the endpoint beside them: the same checks, the same sessions, the same load. */
export interface EndpointContext {
  readonly server: TransportServer
  readonly sessions: Sessions | undefined
  readonly admissionControl: AdmissionControl | undefined
  readonly maxBodyBytes: number
  /** Host and Origin; throws. What comes back are the headers for a page that is welcome. */
  check(request: HttpRequest): HttpHeaders
  openStream(reply: HttpReply, headers: HttpHeaders): EventWriter
  /** Counts a log or progress message that its reader was too slow for. */
  countDropped(): void
  /** Answers with why, as status, headers and body. */
  refuse(thrown: unknown, request: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void
}

export interface HttpEndpoint {
  readonly context: EndpointContext
  /** For each new connection: `undefined` if it must be closed, else what to call when it is. */
  admitConnection(peer: string): (() => void) | undefined
  hasSession(id: string): boolean
  /** What is served beside MCP: the page that OAuth clients read. */
  readonly resource: ProtectedResource | undefined
  /** Never rejects. */
  serve(request: HttpRequest, reply: HttpReply): Promise<void>
  /** Streams that only wait end, so that their clients find another process. */
  detach(): void
  /** Settles when other processes know that this one is gone. */
  close(): Promise<void>
}

const allow = 'GET, POST, DELETE'

export function createEndpoint(server: TransportServer, options: HttpOptions = {}): HttpEndpoint {
  const { maxBodyBytes = 1024 * 1024, keepAliveMs = 15_000, resource } = options
  server.assertSafeToExpose()
  const guard = createGuard(options)
  const hasSession = (id: string): boolean => sessions?.has(id) ?? false
  const admissionControl = options.admission?.({ clock: server.clock, hasSession })
  if (admissionControl) server.gauges.push(...admissionControl.gauges)
  const headersFor = (error: RpcError): HttpHeaders => challengeHeaders(error, resource)
  /** Open streams, and how to call off what keeps each alive. */
  const live = new Map<EventWriter, () => void>()

  /** A timer for each: on workerd a request that waits for nothing of its own is taken for one that hangs. */
  function keepAlive(sink: EventWriter): void {
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
  function openStream(reply: HttpReply, headers: HttpHeaders): EventWriter {
    const sink = reply.stream({ ...eventHeaders, ...headers }, () => {
      live.get(sink)?.()
      live.delete(sink)
    })
    keepAlive(sink)
    return sink
  }

  let drops = 0
  const countDropped = (): void => {
    drops++
  }
  server.gauges.push({
    name: 'sluice_messages_dropped_total',
    help: 'Logs and progress dropped because the client was behind.',
    type: 'counter',
    read: () => drops,
  })
  const outlet: ResponseFactory = { openStream, headersFor, countDropped }
  const legacy = options.sessions ? options.sessions(server, outlet, options.share) : undefined
  const sessions = legacy?.sessions

  function check(request: HttpRequest): HttpHeaders {
    const origin = request.header('origin')
    guard.check(request.host, origin, request.port)
    return origin !== undefined && guard.allows(origin) ? corsHeaders(origin) : noHeaders
  }

  return {
    context: {
      server,
      sessions,
      admissionControl,
      maxBodyBytes,
      check,
      openStream,
      countDropped,
      refuse,
    },
    resource,
    hasSession,
    admitConnection: (peer) => (admissionControl ? admissionControl.admitConnection(peer) : () => {}),
    serve(request, reply) {
      let headers = noHeaders
      try {
        headers = check(request)
        if (request.method === 'POST') return post(request, reply, headers)
        if (request.method === 'GET' || request.method === 'DELETE') return visit(request, reply, headers)
        if (request.method === 'OPTIONS' && headers !== noHeaders)
          reply.send(204, { ...headers, ...preflightHeaders(request, allow) })
        else throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here`)
      } catch (thrown) {
        refuse(thrown, request, reply, headers)
      }
      return done
    },
    detach: () => sessions?.detach(),
    async close() {
      // First: what calls had to say is still to be said.
      await sessions?.close()
      for (const [sink, callOff] of live) {
        callOff()
        sink.close()
      }
      live.clear()
    },
  }

  function refuse(thrown: unknown, via: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void {
    const status = thrown instanceof RpcError ? statusFor(thrown, featuresFor(message, via), message) : 500
    const why = thrown instanceof RpcError ? headersFor(thrown) : noHeaders
    reply.send(
      status,
      { ...jsonHeaders, ...(status === 405 && { allow }), ...headers, ...why },
      server.reject(thrown, via, message),
    )
  }

  async function post(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    let message: unknown
    let admission: Admission | undefined
    let forget: (() => void) | undefined
    try {
      admission = admissionControl && (await admitOrThrow(admissionControl, request))
      // By the connection, not by what awaits below: a promise that never settles must not keep the slot.
      forget = admission && request.onClose(admission.release)
      checkContentType(request.header('content-type'))
      checkEncoding(request.header('content-encoding'))
      const accepts = parseAccept(request.header('accept'))
      message = frame(await request.body(maxBodyBytes, admission?.tooLate))
      const shed = admission && (await admission.recheck(isOneWay(message)))
      if (shed) throw shed
      const route = legacy ? routeOf(message, request) : 'alone'
      const posted: PostContext = { request, message, accepts, reply, headers, admission }
      const isAlone = !legacy?.required && route === 'session' && request.header('mcp-session-id') === undefined
      if (legacy && route !== 'alone' && !isAlone) {
        // Calls of a session outlive their connection, and hold their slot as long as they run.
        forget?.()
        return await legacy[route](posted)
      }
      const answering = new PostResponse(posted, outlet)
      if (hasOneWay(message)) await server.authorizeConnection(answering.via)
      answering.respond(await server.handleText(message, answering))
    } catch (thrown) {
      refuse(thrown, request, reply, headers, thrown instanceof UnsafeMessage ? thrown.value : message)
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
      await legacy.handleGetOrDelete(request, reply, headers)
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
}

const done = Promise.resolve()

/** Throws the refusal. */
export async function admitOrThrow(admissionControl: AdmissionControl, request: AdmissionRequest): Promise<Admission> {
  const admission = await admissionControl.admit(request)
  if (admission instanceof RpcError) throw admission
  return admission
}
