/**
 * One POST on its way back. It hears what the call sends and how it was refused, and makes one response of it: JSON,
 * unless something was sent before the answer; then events.
 */

import type { Via } from '../../core/call.ts'
import type { RpcError, WireError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import { createStop } from '../../core/stop.ts'
import { idOf, isDroppable, isOneWay } from '../../protocol/classify.ts'
import type { MessageContext } from '../../protocol/dispatch.ts'
import { errorText } from '../../protocol/encode.ts'
import type { Features } from '../../protocol/revisions.ts'
import type { Admission } from './admission.ts'
import type { EventWriter } from './events.ts'
import { toEvent } from './events.ts'
import type { ReplayStream } from './legacy/replay-stream.ts'
import type { Session } from './legacy/sessions.ts'
import type { Accepts } from './media.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { jsonHeaders, noHeaders } from './message.ts'
import { statusOf } from './status.ts'

export interface PostContext {
  readonly request: HttpRequest
  readonly message: unknown
  readonly accepts: Accepts
  readonly reply: HttpReply
  readonly headers: HttpHeaders
  /** The place this request holds, given back when it only waits. */
  readonly admission: Pick<Admission, 'release'> | undefined
}
type ResponseStream = Pick<ReplayStream, 'write' | 'close' | 'detach' | 'behind'>
/** What the endpoint has for all its requests. */
export interface ResponseFactory {
  openStream(reply: HttpReply, headers: HttpHeaders): EventWriter
  /** What a refusal says in headers. */
  headersFor(error: RpcError): HttpHeaders
  /** Counts a log or progress message that its reader was too slow for. */
  countDropped(): void
}

/** A class, because one is made per request and its methods should not be. */
export class PostResponse implements MessageContext {
  readonly via: Via
  readonly stop: Stop = createStop()
  /** Only where the client accepts events. */
  readonly send?: (sent: object) => void
  readonly detach?: () => void
  readonly #context: PostContext
  readonly #factory: ResponseFactory
  readonly #session: Session | undefined
  #stream: ResponseStream | undefined = undefined
  #status = 200
  #wireError: WireError | undefined = undefined
  #refusalHeaders: HttpHeaders = noHeaders

  constructor(posted: PostContext, outlet: ResponseFactory, session?: Session) {
    const { request, accepts, message, reply } = posted
    this.#context = posted
    this.#factory = outlet
    this.#session = session
    this.via = session ? sessionVia(request, session) : request
    // Without a session, the client that goes away has cancelled. In one, its calls outlive the connection.
    if (!session) reply.stopOnClose(this.stop)
    if (!accepts.events) return
    this.send = writeMessage
    if (session?.connection.state.agreed?.revision === '2025-11-25') this.detach = () => this.#open().detach()
    if (!accepts.json && isRequest(message)) this.#open()
  }

  rejected(error: RpcError, features: Features | undefined, wire: WireError): void {
    this.#status = statusFor(error, features, this.#context.message)
    this.#wireError = wire
    this.#refusalHeaders = this.#factory.headersFor(error)
  }

  stayOpen(): void {
    this.#context.admission?.release()
  }

  /** Says the answer, if there is one, and that nothing follows. */
  respond(text: string | null): void {
    const { reply, headers } = this.#context
    if (this.#stream) {
      if (text !== null) this.#stream.write(text)
      this.#stream.close()
      return
    }
    const body = text ?? (this.#wireError && errorText(undefined, this.#wireError))
    if (body === undefined) reply.send(202, headers)
    else if (headers === noHeaders && this.#refusalHeaders === noHeaders) reply.send(this.#status, jsonHeaders, body)
    else reply.send(this.#status, { ...jsonHeaders, ...headers, ...this.#refusalHeaders }, body)
  }

  write(sent: object): void {
    const stream = this.#open()
    if (stream.behind && isDroppable(sent)) this.#factory.countDropped()
    else stream.write(JSON.stringify(sent))
  }

  #open(): ResponseStream {
    if (this.#stream) return this.#stream
    const sink = this.#factory.openStream(this.#context.reply, this.#context.headers)
    const stream = this.#session?.openStream(idOf(this.#context.message))
    stream?.attach(sink)
    this.#stream = stream ?? new UnbufferedStream(sink)
    return this.#stream
  }
}

function writeMessage(this: PostResponse, sent: object): void {
  this.write(sent)
}

/** Streams of 2026-07-28 cannot be resumed, so nothing of them is kept. */
class UnbufferedStream implements ResponseStream {
  readonly #writer: EventWriter
  constructor(sink: EventWriter) {
    this.#writer = sink
  }
  write(data: string): void {
    this.#writer.write(toEvent(data))
  }
  close(): void {
    this.#writer.close()
  }
  detach(): void {}
  get behind(): boolean {
    return this.#writer.behind ?? false
  }
}

export const sessionVia = (request: HttpRequest, { connection }: Session): Via => ({
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
