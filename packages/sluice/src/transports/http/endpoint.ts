/**
 * Streamable HTTP for both eras on one endpoint, independent of the HTTP implementation. `../node/http-handler.ts` and
 * `../fetch.ts` are thin adapters around it.
 *
 * A response is JSON by default. The first notification or question turns it into a stream of events.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import { RpcError } from '../../core/error.ts'
import { frame, UnsafeMessage } from '../../core/frame.ts'
import type { ProtectedResource } from '../../core/protected-resource.ts'
import { hasOneWay, isOneWay, routeOf } from '../../protocol/classify.ts'
import { featuresFor } from '../../protocol/message-header.ts'
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

/** The checks and limits of the HTTP endpoint. */
export interface HttpOptions extends GuardOptions {
  /** Refuses excess load before a body is read: `admission({ … })`. By default only connections are limited. */
  readonly admission?: CreateAdmissionControl
  /**
   * `protectedResource({ … })`: names the issuers of tokens for this server, in challenges and on the page for OAuth
   * clients. By default the address of the verifier `oauth`, if the server has one.
   */
  readonly resource?: ProtectedResource
  /**
   * Sessions for clients of revisions before 2026-07-28: `sessions()`. Without them, each request is independent, and
   * the server cannot ask such clients questions. On Node they are on by default; `false` turns them off.
   */
  readonly sessions?: CreateSessionRoutes | false
  /**
   * Lets processes with one store share sessions: `sharedSessions` from `sluice/fetch`. On Node it is on by default.
   */
  readonly share?: SessionsOptions['share']
  /** The largest request body, in bytes. By default 1 MiB. */
  readonly maxBodyBytes?: number
  /** How often an open stream gets a comment, so that proxies do not close a silent stream. By default every 15 s. */
  readonly keepAliveMs?: number
}

/** The checks, sessions and admission control that the endpoint shares with the other transports beside it. */
export interface EndpointContext {
  readonly server: TransportServer
  readonly sessions: Sessions | undefined
  readonly admissionControl: AdmissionControl | undefined
  readonly maxBodyBytes: number
  /** Checks Host and Origin; throws. Returns the CORS headers for a page of an allowed origin. */
  check(request: HttpRequest): HttpHeaders
  openStream(reply: HttpReply, headers: HttpHeaders): EventWriter
  /** Counts a log or progress message that was dropped because its reader was too slow. */
  countDropped(): void
  /** Answers with the refusal, as status, headers and body. */
  refuse(thrown: unknown, request: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void
}

export interface HttpEndpoint {
  readonly context: EndpointContext
  /** Admits a new connection. Returns a function to call when it closes, or `undefined` if it must be closed now. */
  admitConnection(peer: string): (() => void) | undefined
  hasSession(id: string): boolean
  /** The page that OAuth clients read. */
  readonly resource: ProtectedResource | undefined
  /** Never rejects. */
  serve(request: HttpRequest, reply: HttpReply): Promise<void>
  /** Closes streams that only wait, so that their clients reconnect to another process. */
  detach(): void
  /** Settles when other processes know that this one has closed. */
  close(): Promise<void>
}

const allow = 'GET, POST, DELETE'

export function createEndpoint(server: TransportServer, options: HttpOptions = {}): HttpEndpoint {
  const { maxBodyBytes = 1024 * 1024, keepAliveMs = 15_000, resource = server.exposes } = options
  server.assertSafeToExpose()
  const guard = createGuard(options, server.exposes?.host)
  const hasSession = (id: string): boolean => sessions?.has(id) ?? false
  const admissionControl = options.admission?.({ clock: server.clock, hasSession })
  if (admissionControl) server.gauges.push(...admissionControl.gauges)
  const headersFor = (error: RpcError): HttpHeaders => challengeHeaders(error, resource)
  /** Open streams, each with the function that cancels its keep-alive timer. */
  const keepAlives = new Map<EventWriter, () => void>()

  /** Starts a timer for each stream, because workerd takes a request without one for a request that hangs. */
  function keepAlive(writer: EventWriter): void {
    if (writer.closed) keepAlives.delete(writer)
    else
      keepAlives.set(
        writer,
        server.clock.after(keepAliveMs, () => {
          writer.write(': keep-alive\n\n')
          keepAlive(writer)
        }),
      )
  }
  function openStream(reply: HttpReply, headers: HttpHeaders): EventWriter {
    const writer = reply.stream({ ...eventHeaders, ...headers }, () => {
      keepAlives.get(writer)?.()
      keepAlives.delete(writer)
    })
    keepAlive(writer)
    return writer
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
  const responses: ResponseFactory = { openStream, headersFor, countDropped }
  const legacy = options.sessions ? options.sessions(server, responses, options.share) : undefined
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
        if (request.method === 'GET' || request.method === 'DELETE') return getOrDelete(request, reply, headers)
        if (request.method === 'OPTIONS' && headers !== noHeaders)
          reply.send(204, { ...headers, ...preflightHeaders(request, allow) })
        else throw new RpcError('methodNotAllowed', 'Method not allowed: use POST')
      } catch (thrown) {
        refuse(thrown, request, reply, headers)
      }
      return done
    },
    detach: () => sessions?.detach(),
    async close() {
      // First, because calls may still have messages to send.
      await sessions?.close()
      for (const [writer, cancelTimer] of keepAlives) {
        cancelTimer()
        writer.close()
      }
      keepAlives.clear()
    },
  }

  function refuse(thrown: unknown, via: HttpRequest, reply: HttpReply, headers: HttpHeaders, message?: unknown): void {
    const status = thrown instanceof RpcError ? statusFor(thrown, featuresFor(message, via), message) : 500
    const errorHeaders = thrown instanceof RpcError ? headersFor(thrown) : noHeaders
    reply.send(
      status,
      { ...jsonHeaders, ...(status === 405 && { allow }), ...headers, ...errorHeaders },
      server.reject(thrown, via, message),
    )
  }

  async function post(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    let message: unknown
    let admission: Admission | undefined
    let unsubscribe: (() => void) | undefined
    try {
      admission = admissionControl && (await admitOrThrow(admissionControl, request))
      // Bound to the connection, not to the awaits below, because a promise that never settles must not keep the slot.
      unsubscribe = admission && request.onClose(admission.release)
      checkContentType(request.header('content-type'))
      checkEncoding(request.header('content-encoding'))
      const accepts = parseAccept(request.header('accept'))
      message = frame(await request.body(maxBodyBytes, admission?.tooLate))
      const shed = admission && (await admission.recheck(isOneWay(message)))
      if (shed) throw shed
      const route = legacy ? routeOf(message, request) : 'alone'
      const context: PostContext = { request, message, accepts, reply, headers, admission }
      const isAlone = !legacy?.required && route === 'session' && request.header('mcp-session-id') === undefined
      if (legacy && route !== 'alone' && !isAlone) {
        // Calls of a session outlive their connection, and keep their slot as long as they run.
        unsubscribe?.()
        return await legacy[route](context)
      }
      const response = new PostResponse(context, responses)
      if (hasOneWay(message)) await server.authorizeConnection(response.via)
      response.respond(await server.handleText(message, response))
    } catch (thrown) {
      refuse(thrown, request, reply, headers, thrown instanceof UnsafeMessage ? thrown.value : message)
    } finally {
      unsubscribe?.()
      admission?.release()
    }
  }

  /** Serves GET and DELETE, which exist for sessions only. */
  async function getOrDelete(request: HttpRequest, reply: HttpReply, headers: HttpHeaders): Promise<void> {
    try {
      if (!legacy || request.header('mcp-protocol-version')?.trim() === modernRevision)
        throw new RpcError('methodNotAllowed', `${request.method} is for sessions of earlier revisions: use POST`)
      await legacy.handleGetOrDelete(request, reply, headers)
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
}

const done = Promise.resolve()

export async function admitOrThrow(admissionControl: AdmissionControl, request: AdmissionRequest): Promise<Admission> {
  const admission = await admissionControl.admit(request)
  if (admission instanceof RpcError) throw admission
  return admission
}
