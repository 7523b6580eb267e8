/**
 * Dispatches one message to the layers and returns one reply or none. Never throws, never rejects. A call that waits for
 * nothing is answered without a promise.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Caller, Handler, ServerEvent, Tenant, Via } from '../core/call.ts'
import type { WireError } from '../core/error.ts'
import { detailOf, invalidRequest, RpcError, toWire } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { LogLine } from '../core/log.ts'
import type { Stop } from '../core/stop.ts'
import { createStop, followSignal } from '../core/stop.ts'
import type { NotificationEnvelope, RequestEnvelope, ResponseEnvelope } from './classify.ts'
import { classify, legacyRevision } from './classify.ts'
import type { ErrorStyle, Reply } from './encode.ts'
import { errorReply } from './encode.ts'
import { featuresFor, hasEnvelope, readHeader } from './message-header.ts'
import type { Registry } from './registry.ts'
import type { Features } from './revisions.ts'
import { revisions } from './revisions.ts'

/** The facts that only the receiver of a message knows, because the message does not contain them. */
export interface MessageContext {
  readonly via: Via
  /** Cancels the call when it aborts. The call then has no answer. */
  readonly signal?: AbortSignal
  /** The same for transports, without the cost of a signal. Made for this one call. */
  readonly stop?: Stop
  /** Sends a message on the call's own stream. Without it, notifications are dropped and questions cannot be asked. */
  readonly send?: (message: object) => void
  /**
   * Called on a refusal, for transports that have statuses. Also called for messages without an answer, such as a
   * request without an id.
   */
  readonly rejected?: (error: RpcError, features: Features | undefined, wire: WireError) => void
  readonly detach?: () => void
  /**
   * Called when this call is accepted and stays open until one side ends it, so that a transport does not wait for it.
   */
  readonly stayOpen?: () => void
}

export interface DispatchOptions {
  registry(): Registry
  /** All layers, for the newest revision. `bridged` is the same for the others. */
  readonly modern: Handler
  readonly bridged: Handler
  readonly caller: Caller
  readonly tenant: Tenant
  readonly maxResultLength: number
  /** Called for each message that was refused before it became a call. */
  rejected(line: LogLine): void
  /** Called for each notification. The returned function is called when it is done. */
  readonly notified?: ((method: string, via: Via) => () => void) | undefined
  readonly errors: ErrorStyle
  newErrorId(): string
  /** Returns whether the process is about to end, so that a new call might not finish. */
  isShuttingDown(): boolean
  publish(event: ServerEvent): void
}

/** The reply to a message, those to a batch, or none. */
export type Replies = Reply | readonly Reply[] | null
export type Dispatch = (message: unknown, context: MessageContext) => Replies | Promise<Replies>

/** Maximum number of messages in a batch (2025-03-26 only). */
const maxBatch = 100
const emptyParams: Params = {}
const noop = (): void => {}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { modern, bridged, caller, tenant, errors, newErrorId: reference, publish, maxResultLength } = options

  return (message, context) => (Array.isArray(message) ? batch(message, context) : single(message, context))

  function single(message: unknown, context: MessageContext): Reply | null | Promise<Reply | null> {
    let running: Running
    try {
      const envelope = classify(message, context.via)
      if (envelope.kind === 'notification') {
        const done = options.notified?.(envelope.method, context.via)
        notification(envelope, context)
        done?.()
        return null
      }
      if (envelope.kind === 'response')
        return response(envelope, context).catch((thrown) => refuseEarly(thrown, message, context))
      running = start(envelope, context)
    } catch (thrown) {
      return refuseEarly(thrown, message, context)
    }
    const { call, features } = running
    let answer: ReturnType<Handler>
    try {
      answer = (features.era === 'modern' ? modern : bridged)(call)
    } catch (thrown) {
      return refused(running, thrown)
    }
    if (!(answer instanceof Promise)) return answered(running, answer)
    // The handshake cannot be cancelled, but its id is in use like any other: nothing listens to its stop.
    call.via.connection?.enter(call.id, call.method === 'initialize' ? createStop() : call.stop)
    return answer.then(
      (settled) => answered(running, settled),
      (thrown) => refused(running, thrown),
    )
  }

  function answered(running: Running, answer: Answer): Reply {
    end(running)
    const { call, features } = running
    return { id: call.id, method: call.method, features, answer }
  }

  function refused(running: Running, thrown: unknown): Reply | null {
    end(running)
    const { call, features, context } = running
    const { id, method, stop, facts } = call
    if (stop.reason?.reason === 'cancelled') return null
    // The reason of the stop wins over the error that the work threw because it was stopped.
    const cause = stop.reason ?? thrown
    const reply = errorReply({
      ...{ id, method, features, style: errors },
      thrown: cause,
      reference: facts.reference ?? reference(),
    })
    if (cause instanceof RpcError && 'error' in reply) context.rejected?.(cause, features, reply.error)
    return reply
  }

  /** Makes the call, under an id that no call in flight on its connection has. */
  function start(envelope: RequestEnvelope, context: MessageContext): Running {
    const { id, method, params, meta, revision, capabilities } = envelope
    const features = revisions[revision]
    const { via, detach = noop, stop = createStop() } = context
    const { connection } = via
    const { target, args, find } = options.registry().resolve(method, params, features.era)
    if (options.isShuttingDown()) throw shuttingDown()
    connection?.assertUnused(id)
    const isEndless = target.kind === 'method' && target.policy.timeoutMs === Number.POSITIVE_INFINITY
    if (isEndless && !context.send)
      throw new RpcError('notAcceptable', `${method} needs a stream; over HTTP accept text/event-stream`)
    const canAsk = connection && context.send && features.era === 'legacy'
    const call: Mutable<Call> = {
      id,
      method,
      params,
      meta,
      revision,
      target,
      args,
      ready: undefined,
      answers: emptyParams,
      caller,
      tenant,
      capabilities,
      via,
      stop,
      notify(notified, about) {
        if (!running.responded) context.send?.({ jsonrpc: '2.0', method: notified, params: about })
      },
      request: canAsk
        ? (asked, about, until = stop) =>
            connection.request(asked, about, { send: (sent) => context.send?.(sent), stop: until })
        : undefined,
      stayOpen: isEndless ? () => context.stayOpen?.() : undefined,
      publish,
      maxResultLength,
      detach,
      facts: {},
      resolve: undefined,
    }
    // Sets the target on this very object, because the outer observers hold it.
    if (find) call.resolve = (current) => (call.target = find(current))
    const unfollow = context.signal && followSignal(context.signal, stop)
    const running: Running = { call, features, context, unfollow, responded: false }
    return running
  }

  function notification({ method, params }: NotificationEnvelope, context: MessageContext): void {
    const { connection } = context.via
    if (method === 'notifications/cancelled') {
      const id = params['requestId']
      if (typeof id === 'string' || typeof id === 'number') connection?.cancel(id)
    } else if (options.registry().isRequest(method))
      throw new UnansweredError(`${method} without an id has no effect; add an id`)
  }

  async function response({ id, message }: ResponseEnvelope, { via }: MessageContext): Promise<null> {
    if (!(await via.connection?.settle(id, message)))
      throw new UnansweredError('this response matches no pending request')
    return null
  }

  async function batch(messages: readonly unknown[], context: MessageContext): Promise<Replies> {
    try {
      refuseBatch(messages, context.via)
    } catch (thrown) {
      return refuseEarly(thrown, messages, context)
    }
    const replies = await Promise.all(messages.map((message) => single(message, batchElementContext(context))))
    const answers = replies.filter((reply) => reply !== null)
    return answers.length > 0 ? answers : null
  }

  function refuseBatch(messages: readonly unknown[], via: Via): void {
    const { batches } = featuresFor(messages, via) ?? revisions[legacyRevision(via)]
    if (!batches || messages.some(hasEnvelope))
      throw invalidRequest('only 2025-03-26 has batches; send one message at a time')
    if (messages.length === 0 || messages.length > maxBatch)
      throw invalidRequest(`a batch holds 1 to ${maxBatch} messages`)
    if (messages.some((message) => isObject(message) && message['method'] === 'initialize'))
      throw invalidRequest('initialize must not be in a batch')
  }

  /** Refuses a message that never reached the layers: malformed, of the wrong era, or with an id in use. */
  function refuseEarly(thrown: unknown, message: unknown, context: MessageContext): Reply | null {
    const { id, method, features, oneWay } = readHeader(message, context.via)
    const errorId = reference()
    const error = toWire(thrown, features?.era ?? 'legacy', errorId)
    const { transport } = context.via
    options.rejected({
      event: 'refused',
      id,
      method,
      reason: String(error.data['reason']),
      reference: errorId,
      transport,
      ...detailOf(thrown),
    })
    if (thrown instanceof RpcError) context.rejected?.(thrown, features, error)
    return thrown instanceof UnansweredError || oneWay ? null : { id, error }
  }
}

/**
 * Returns the context of one message of a batch. It has its own stop, so that a cancelled or overdue message does not
 * end the others. The status belongs to the whole batch, so its refusal is not reported.
 */
function batchElementContext(context: MessageContext): MessageContext {
  const { via, signal } = context
  const stop = createStop()
  context.stop?.onStop((reason) => stop.stop(reason))
  return {
    via,
    stop,
    ...(signal && { signal }),
    ...(context.send && { send: (message) => context.send?.(message) }),
    ...(context.detach && { detach: () => context.detach?.() }),
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A call in the layers, and what ends with it. */
interface Running {
  readonly call: Call
  readonly features: Features
  readonly context: MessageContext
  readonly unfollow: (() => void) | undefined
  /** Set once the answer is sent. The work must not send anything after it. */
  responded: boolean
}

function end(running: Running): void {
  const { call, unfollow } = running
  running.responded = true
  unfollow?.()
  call.via.connection?.leave(call.id)
}

/** Behind a load balancer, a retry reaches another process. */
export const shuttingDown = (): RpcError =>
  new RpcError('shuttingDown', 'Shutting down: try again', { data: { retryAfterMs: 1000 } })

/** A refusal of a message that gets no answer. Transports with statuses still report it. */
class UnansweredError extends RpcError {
  constructor(problem: string) {
    super('invalidRequest', `Invalid request: ${problem}`)
  }
}
