/**
 * One POST on its way back. It hears what the call sends and how it was refused, and makes one response of it: JSON,
 * unless something was sent before the answer; then events.
 */

import type { Via } from '../../core/call.ts'
import type { RpcError, WireError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import { createStop } from '../../core/stop.ts'
import { idOf, isOneWay, mayDrop } from '../../protocol/classify.ts'
import type { Context } from '../../protocol/dispatch.ts'
import { errorText } from '../../protocol/encode.ts'
import type { Features } from '../../protocol/revisions.ts'
import type { Resumable, Sink } from './events.ts'
import { toEvent } from './events.ts'
import type { Admission } from './gate.ts'
import type { Accepts } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { json, noHeaders } from './message.ts'
import type { Session } from './sessions.ts'
import { statusOf } from './status.ts'

export interface Posted {
  readonly request: HttpRequest
  readonly message: unknown
  readonly accepts: Accepts
  readonly reply: HttpReply
  readonly headers: HttpHeaders
  /** The place this request holds, given back when it only waits. */
  readonly admission: Pick<Admission, 'release'> | undefined
}
type Stream = Pick<Resumable, 'write' | 'finish' | 'detach' | 'behind'>
/** What the endpoint has for all its requests. */
export interface Outlet {
  openStream(reply: HttpReply, headers: HttpHeaders): Sink
  /** What a refusal says in headers. */
  headersFor(error: RpcError): HttpHeaders
  /** Counts a log or progress message that its reader was too slow for. */
  dropped(): void
}

/** A class, because one is made per request and its methods should not be. */
export class Answering implements Context {
  readonly via: Via
  readonly stop: Stop = createStop()
  /** Only where the client accepts events. */
  readonly send?: (sent: object) => void
  readonly detach?: () => void
  readonly #posted: Posted
  readonly #outlet: Outlet
  readonly #session: Session | undefined
  #stream: Stream | undefined = undefined
  #status = 200
  #wire: WireError | undefined = undefined
  #refusal: HttpHeaders = noHeaders

  constructor(posted: Posted, outlet: Outlet, session?: Session) {
    const { request, accepts, message, reply } = posted
    this.#posted = posted
    this.#outlet = outlet
    this.#session = session
    this.via = session ? inSession(request, session) : request
    // Without a session, the client that goes away has cancelled. In one, its calls outlive the connection.
    if (!session) reply.onGone(this.stop)
    if (!accepts.events) return
    this.send = sendOn
    if (session?.connection.state.agreed?.revision === '2025-11-25') this.detach = () => this.#open().detach()
    if (!accepts.json && isRequest(message)) this.#open()
  }

  refused(error: RpcError, features: Features | undefined, wire: WireError): void {
    this.#status = statusFor(error, features, this.#posted.message)
    this.#wire = wire
    this.#refusal = this.#outlet.headersFor(error)
  }

  endless(): void {
    this.#posted.admission?.release()
  }

  /** Says the answer, if there is one, and that nothing follows. */
  finish(text: string | null): void {
    const { reply, headers } = this.#posted
    if (this.#stream) {
      if (text !== null) this.#stream.write(text)
      this.#stream.finish()
      return
    }
    const body = text ?? (this.#wire && errorText(undefined, this.#wire))
    if (body === undefined) reply.end(202, headers)
    else if (headers === noHeaders && this.#refusal === noHeaders) reply.end(this.#status, json, body)
    else reply.end(this.#status, { ...json, ...headers, ...this.#refusal }, body)
  }

  write(sent: object): void {
    const stream = this.#open()
    if (stream.behind && mayDrop(sent)) this.#outlet.dropped()
    else stream.write(JSON.stringify(sent))
  }

  #open(): Stream {
    if (this.#stream) return this.#stream
    const sink = this.#outlet.openStream(this.#posted.reply, this.#posted.headers)
    const stream = this.#session?.open(idOf(this.#posted.message))
    stream?.attach(sink)
    this.#stream = stream ?? new Plain(sink)
    return this.#stream
  }
}

function sendOn(this: Answering, sent: object): void {
  this.write(sent)
}

/** Streams of 2026-07-28 cannot be resumed, so nothing of them is kept. */
class Plain implements Stream {
  readonly #sink: Sink
  constructor(sink: Sink) {
    this.#sink = sink
  }
  write(data: string): void {
    this.#sink.write(toEvent(data))
  }
  finish(): void {
    this.#sink.end()
  }
  detach(): void {}
  get behind(): boolean {
    return this.#sink.behind ?? false
  }
}

export const inSession = (request: HttpRequest, { connection }: Session): Via => ({
  transport: 'http',
  peer: request.peer,
  header: (name) => request.header(name),
  connection,
})

/** A refusal that answers no id is nobody's answer, so the status must tell: notifications, responses, whole batches. */
export function statusFor(error: RpcError, features: Features | undefined, message: unknown): number {
  const status = statusOf(error, features)
  return status === 200 && (idOf(message) === undefined || isOneWay(message)) ? 400 : status
}

const isRequest = (message: unknown): boolean =>
  Array.isArray(message) || (typeof message === 'object' && message !== null && 'id' in message && 'method' in message)
