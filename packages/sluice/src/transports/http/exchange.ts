/**
 * Streamable HTTP, both eras on one endpoint, without knowing which HTTP it is: `node.ts` and `../fetch.ts` are thin
 * adapters around this.
 *
 * JSON unless something must stream: the first notification or question turns the response into events.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import type { Via } from '../../core/call.ts'
import type { WireError } from '../../core/error.ts'
import { RpcError } from '../../core/error.ts'
import { frame, Unsound } from '../../core/frame.ts'
import { createStop } from '../../core/stop.ts'
import { idOf, isOneWay, legacyRevision, routeOf } from '../../protocol/classify.ts'
import type { Context } from '../../protocol/dispatch.ts'
import { featuresFor } from '../../protocol/dispatch.ts'
import { errorText } from '../../protocol/encode.ts'
import type { Features } from '../../protocol/revisions.ts'
import { modernRevision } from '../../protocol/revisions.ts'
import type { Server } from '../../protocol/server.ts'
import type { Resumable, Sink } from './events.ts'
import { eventHeaders, toEvent } from './events.ts'
import type { GuardOptions } from './guard.ts'
import { createGuard } from './guard.ts'
import type { Accepts } from './media.ts'
import { checkContentType, checkEncoding, parseAccept } from './media.ts'
import type { Session, Sessions } from './sessions.ts'
import { createSessions } from './sessions.ts'
import { statusOf } from './status.ts'

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

/** One request, as the adapters hand it in. */
export interface HttpRequest {
  readonly method: string
  readonly peer: string
  /** By lower-case name. */
  header(name: string): string | undefined
  /** The Host header; `undefined` if it is missing or came twice. */
  readonly host: string | undefined
  /** The port it arrived on, where that is known. */
  readonly port: number | undefined
  /** The whole body as text. Throws `payloadTooLarge`, or `parseError` for what is not UTF-8. */
  body(maxBytes: number): Promise<string>
}
export type HttpHeaders = { readonly [name: string]: string }
/** The one response to it. Either `end`, or `stream` and then its sink's `end`. */
export interface HttpReply {
  end(status: number, headers: HttpHeaders, body?: string): void
  stream(headers: HttpHeaders): Sink
  /** Calls `then` if the client goes before the response is complete. */
  onGone(then: () => void): void
}

export interface Exchange {
  /** Never rejects. */
  serve(request: HttpRequest, reply: HttpReply): Promise<void>
  close(): void
}

const json: HttpHeaders = { 'content-type': 'application/json' }
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
      const via: Via = { transport: 'http', peer: request.peer, header: (name) => request.header(name) }
      let headers = noHeaders
      try {
        const origin = request.header('origin')
        guard.check(request.host, origin, request.port)
        if (origin !== undefined && guard.allows(origin)) headers = corsFor(origin)
        if (request.method === 'POST') return post(request, reply, via, headers)
        if (request.method === 'GET') get(request, reply, via, headers)
        else if (request.method === 'DELETE') end(request, reply, via, headers)
        else if (request.method === 'OPTIONS' && headers !== noHeaders)
          reply.end(204, { ...headers, ...preflight(request) })
        else throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here`)
      } catch (thrown) {
        refuse(thrown, via, reply, headers)
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

  function refuse(thrown: unknown, via: Via, reply: HttpReply, headers: HttpHeaders, message?: unknown): void {
    const status = thrown instanceof RpcError ? statusFor(thrown, featuresFor(message, via), message) : 500
    reply.end(status, { ...json, ...headers, ...(status === 405 && { allow }) }, server.refuse(thrown, via, message))
  }

  async function post(request: HttpRequest, reply: HttpReply, via: Via, headers: HttpHeaders): Promise<void> {
    let message: unknown
    try {
      checkContentType(request.header('content-type'))
      checkEncoding(request.header('content-encoding'))
      const accepts = parseAccept(request.header('accept'))
      message = frame(await request.body(maxBodyBytes))
      const posted: Posted = { message, via, accepts, reply, headers }
      const route = routeOf(message, via)
      if (route === 'alone' || !sessions) await answer(posted)
      else if (route === 'session') await answerIn(sessions.get(request.header('mcp-session-id')), posted)
      else await begin(sessions, posted)
    } catch (thrown) {
      refuse(thrown, via, reply, headers, thrown instanceof Unsound ? thrown.value : message)
    }
  }

  /** The handshake. One that fails leaves no session behind. */
  async function begin(kept: Sessions, posted: Posted): Promise<void> {
    const session = kept.create()
    const headers = { ...posted.headers, 'mcp-session-id': session.id }
    await answerIn(session, { ...posted, headers }, () => {
      if (session.connection.agreed) kept.keep(session)
      else session.connection.close()
    })
  }

  interface Posted {
    readonly message: unknown
    readonly via: Via
    readonly accepts: Accepts
    readonly reply: HttpReply
    readonly headers: HttpHeaders
  }

  /** Without a session: the client that goes away has cancelled, as 2026-07-28 says. */
  async function answer({ message, via, accepts, reply, headers }: Posted): Promise<void> {
    const stop = createStop()
    let sink: Sink | undefined
    reply.onGone(() => stop.stop(new RpcError('cancelled', 'The client closed the connection')))
    const send = (sent: object): void => {
      sink ??= openStream(reply, headers)
      sink.write(toEvent(JSON.stringify(sent)))
    }
    if (accepts.events && !accepts.json && isRequest(message)) sink = openStream(reply, headers)
    const refusal = noteRefusal()
    const text = await server.text(message, { via, stop, refused: refusal.note, ...(accepts.events && { send }) })
    conclude(
      text,
      refusal,
      { reply, headers, message },
      sink && { write: (event) => sink?.write(toEvent(event)), finish: () => sink?.end() },
    )
  }

  /** In a legacy session: its calls outlive the connection, and what they say can be fetched again. */
  async function answerIn(
    session: Session,
    { message, via, accepts, reply, headers }: Posted,
    settled?: () => void,
  ): Promise<void> {
    let stream: Resumable | undefined
    const open = (): Resumable => {
      if (stream) return stream
      stream = session.open()
      const sink = openStream(reply, headers)
      stream.attach(sink)
      return stream
    }
    /** Only 2025-11-25 clients know to come back for the rest of a response. */
    const detach = (): void => {
      if (session.connection.agreed?.revision === '2025-11-25') open().detach()
    }
    const refusal = noteRefusal()
    const context: Partial<Context> = {
      via: { ...via, connection: session.connection },
      refused: refusal.note,
      ...(accepts.events && { send: (sent) => open().write(JSON.stringify(sent)), detach }),
    }
    if (accepts.events && !accepts.json && isRequest(message)) open()
    const text = await server.text(message, context)
    settled?.()
    conclude(text, refusal, { reply, headers, message }, stream)
  }

  function conclude(
    text: string | null,
    { error, features, wire }: Refusal,
    { reply, headers, message }: Pick<Posted, 'reply' | 'headers' | 'message'>,
    stream: Pick<Resumable, 'write' | 'finish'> | undefined,
  ): void {
    if (stream) {
      if (text !== null) stream.write(text)
      stream.finish()
      return
    }
    const status = error ? statusFor(error, features, message) : 200
    const body = text ?? (wire && errorText(undefined, wire))
    if (body !== undefined) reply.end(status, headers === noHeaders ? json : { ...json, ...headers }, body)
    else reply.end(202, headers)
  }

  function get(request: HttpRequest, reply: HttpReply, via: Via, headers: HttpHeaders): void {
    const session = sessionOf(request, via)
    if (!parseAccept(request.header('accept')).events)
      throw new RpcError('notAcceptable', 'A GET here is a stream: accept text/event-stream')
    const last = request.header('last-event-id')
    const place = last === undefined ? { stream: session.standing, after: undefined } : session.find(last)
    if (!place) throw new RpcError('invalidRequest', 'Last-Event-ID is not of this session, or too old')
    place.stream.attach(openStream(reply, headers), place.after)
  }

  function end(request: HttpRequest, reply: HttpReply, via: Via, headers: HttpHeaders): void {
    const session = sessionOf(request, via)
    sessions?.end(session)
    reply.end(204, headers)
  }

  /** GET and DELETE exist for sessions only. */
  function sessionOf(request: HttpRequest, via: Via): Session {
    if (!sessions || via.header('mcp-protocol-version')?.trim() === modernRevision)
      throw new RpcError('methodNotAllowed', `${request.method} is for sessions of earlier revisions; use POST`)
    // Throws for a version nobody serves: that is refused whatever the HTTP method.
    legacyRevision(via)
    return sessions.get(request.header('mcp-session-id'))
  }
}

const noHeaders: HttpHeaders = {}
const done = Promise.resolve()

interface Refusal {
  error: RpcError | undefined
  features: Features | undefined
  wire: WireError | undefined
  note(error: RpcError, features: Features | undefined, wire: WireError): void
}
const noteRefusal = (): Refusal => {
  const refusal: Refusal = {
    error: undefined,
    features: undefined,
    wire: undefined,
    note(error, features, wire) {
      Object.assign(refusal, { error, features, wire })
    },
  }
  return refusal
}

/** A refusal that answers no id is nobody's answer, so the status must tell: notifications, responses, whole batches. */
function statusFor(error: RpcError, features: Features | undefined, message: unknown): number {
  const status = statusOf(error, features)
  return status === 200 && (idOf(message) === undefined || isOneWay(message)) ? 400 : status
}

const isRequest = (message: unknown): boolean =>
  Array.isArray(message) || (typeof message === 'object' && message !== null && 'id' in message && 'method' in message)

const corsFor = (origin: string): HttpHeaders => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'mcp-session-id, www-authenticate, retry-after',
  vary: 'origin',
})
const allowedHeaders: ReadonlySet<string> = new Set([
  ...['content-type', 'authorization', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'],
  'last-event-id',
])
/** `Mcp-Param-*` cannot be listed ahead, so the names a page asks for are answered one by one. */
function preflight(request: HttpRequest): HttpHeaders {
  const asked = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',')
  const granted = asked
    .map((name) => name.trim())
    .filter((name) => allowedHeaders.has(name) || /^mcp-param-[\w-]+$/.test(name))
  return {
    'access-control-allow-methods': allow,
    'access-control-allow-headers': granted.join(', '),
    'access-control-max-age': '600',
  }
}
