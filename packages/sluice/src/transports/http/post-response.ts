/**
 * The response to one POST, made of the messages that the call sends and of its answer or refusal. It is JSON by
 * default, and a stream of events if a message is sent before the answer.
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
import type { EndpointContext } from './endpoint.ts'
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
  /** The slot this request holds. It is released when the request only waits. */
  readonly admission: Pick<Admission, 'release'> | undefined
}
type ResponseStream = Pick<ReplayStream, 'write' | 'close' | 'detach' | 'behind'>
/** The functions that all responses of one endpoint share. */
export interface ResponseFactory extends Pick<EndpointContext, 'openStream' | 'countDropped'> {
  headersFor(error: RpcError): HttpHeaders
}

/** A class, because one is made per request, and closures would be made per request too. */
export class PostResponse implements MessageContext {
  readonly via: Via
  readonly stop: Stop = createStop()
  /** Present only if the client accepts events. */
  readonly send?: (message: object) => void
  readonly detach?: () => void
  readonly #context: PostContext
  readonly #factory: ResponseFactory
  readonly #session: Session | undefined
  #stream: ResponseStream | undefined = undefined
  #status = 200
  #wireError: WireError | undefined = undefined
  #refusalHeaders: HttpHeaders = noHeaders

  /** `via` is the request, with the connection of the session. */
  constructor(context: PostContext, factory: ResponseFactory, via: Via = context.request, session?: Session) {
    const { accepts, message, reply } = context
    this.#context = context
    this.#factory = factory
    this.#session = session
    this.via = via
    // Without a session, a client that disconnects has cancelled. With one, its calls outlive the connection.
    if (!session) reply.stopOnClose(this.stop)
    if (!accepts.events) return
    this.send = writeMessage
    if (session?.primesStreams) this.detach = () => this.#open().detach()
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

  /** Sends the answer, if there is one, and ends the response. */
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

  write(message: object): void {
    const stream = this.#open()
    if (stream.behind && isDroppable(message)) this.#factory.countDropped()
    else stream.write(JSON.stringify(message))
  }

  #open(): ResponseStream {
    if (this.#stream) return this.#stream
    const writer = this.#factory.openStream(this.#context.reply, this.#context.headers)
    const stream = this.#session?.openStream(idOf(this.#context.message))
    stream?.attach(writer)
    this.#stream = stream ?? unbuffered(writer)
    return this.#stream
  }
}

function writeMessage(this: PostResponse, message: object): void {
  this.write(message)
}

/** Returns a stream of 2026-07-28. It cannot be resumed, so its events are not kept. */
const unbuffered = (writer: EventWriter): ResponseStream => ({
  write: (data) => writer.write(toEvent(data)),
  close: () => writer.close(),
  detach() {},
  get behind() {
    return writer.behind ?? false
  },
})

/**
 * Returns the status of a refusal. Without an id to answer (notifications, responses, batches) only the status can
 * tell, so it is not 200.
 */
export function statusFor(error: RpcError, features: Features | undefined, message: unknown): number {
  const status = statusOf(error, features)
  return status === 200 && (idOf(message) === undefined || isOneWay(message)) ? 400 : status
}

const isRequest = (message: unknown): boolean =>
  Array.isArray(message) || (typeof message === 'object' && message !== null && 'id' in message && 'method' in message)
