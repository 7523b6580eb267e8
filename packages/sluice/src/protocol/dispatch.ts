/**
 * One message in, one reply or none out, and it never throws: the way from a parsed value to the layers and back.
 */

import type { Call, Caller, Handler, ServerEvent, Tenant, Via } from '../core/call.ts'
import { RpcError, toWire } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Stop } from '../core/stop.ts'
import { createStop, follow } from '../core/stop.ts'
import type { NotificationEnvelope, RequestEnvelope, ResponseEnvelope } from './classify.ts'
import { classify, idOf, legacyRevision } from './classify.ts'
import type { ErrorStyle, Reply } from './encode.ts'
import { refuse } from './encode.ts'
import type { Aim, Registry } from './registry.ts'
import type { Features } from './revisions.ts'
import { metaKeys, revisions } from './revisions.ts'

/** What a message does not say, and only whoever received it knows. */
export interface Context {
  readonly via: Via
  /** Aborting it cancels the call: then there is no answer. */
  readonly signal?: AbortSignal
  /** The same for transports, without the cost of a signal; made for this one call. */
  readonly stop?: Stop
  /** Sends a message on the call's own stream. Without it, notifications are dropped and nothing can be asked. */
  readonly send?: (message: object) => void
  /** Hears of a refusal, for transports that have statuses: also of what gets no answer, as a request without an id. */
  readonly refused?: (error: RpcError, features: Features | undefined) => void
  readonly detach?: () => void
}

export interface DispatchOptions {
  registry(): Registry
  /** All layers, for the newest revision; `bridged` is the same for the others. */
  readonly modern: Handler
  readonly bridged: Handler
  readonly caller: Caller
  readonly tenant: Tenant
  readonly logger: Logger
  readonly errors: ErrorStyle
  reference(): string
  publish(event: ServerEvent): void
}

export type Dispatch = (message: unknown, context: Context) => Promise<Reply | readonly Reply[] | null>

/** A batch may hold this many messages (2025-03-26 only). */
const maxBatch = 100
const nothing: Params = {}
const ignore = (): void => {}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { modern, bridged, caller, tenant, logger, errors, reference, publish } = options

  return async function dispatch(message, context) {
    try {
      if (Array.isArray(message)) return await batch(message, context)
      return await single(message, context)
    } catch (thrown) {
      return refuseEarly(thrown, message, context)
    }
  }

  async function single(message: unknown, context: Context): Promise<Reply | null> {
    const envelope = classify(message, context.via)
    if (envelope.kind === 'request') return request(envelope, context)
    if (envelope.kind === 'response') return response(envelope, context)
    return notification(envelope, context)
  }

  async function request(envelope: RequestEnvelope, context: Context): Promise<Reply | null> {
    const { id, method, params, meta, revision, capabilities } = envelope
    const { via, send, detach = ignore } = context
    const features = revisions[revision]
    const { target, args }: Aim = options.registry().aim(method, params, features.era)
    const inFlight = via.connection?.inFlight
    if (inFlight?.has(id))
      throw new RpcError('invalidRequest', 'Invalid request: this id is still in use by a call under way')
    if (!send && target.policy.timeoutMs === Number.POSITIVE_INFINITY)
      throw new RpcError(
        'notAcceptable',
        `${method} needs a transport that can stream; over HTTP accept text/event-stream`,
      )
    const { connection } = via
    const { signal, stop = createStop() } = context
    const letGo = signal && follow(signal, stop)
    const canAsk = connection && send && features.era === 'legacy'
    let answered = false
    const call: Call = {
      id,
      method,
      params,
      meta,
      revision,
      target,
      args,
      ready: undefined,
      given: nothing,
      caller,
      tenant,
      capabilities,
      via,
      stop,
      notify(notified, about) {
        if (!answered) send?.({ jsonrpc: '2.0', method: notified, params: about })
      },
      request: canAsk ? (asked, about) => connection.request(asked, about, { send, stop }) : undefined,
      publish,
      detach,
      facts: {},
    }
    // The handshake cannot be cancelled.
    if (method !== 'initialize') inFlight?.set(id, stop)
    try {
      const answer = await (features.era === 'modern' ? modern : bridged)(call)
      return { id, method, features, answer }
    } catch (thrown) {
      if (isCancelled(thrown)) return null
      if (thrown instanceof RpcError) context.refused?.(thrown, features)
      return refuse({ id, method, features, thrown, reference: call.facts.reference ?? reference(), style: errors })
    } finally {
      answered = true
      letGo?.()
      inFlight?.delete(id)
    }
  }

  function notification({ method, params }: NotificationEnvelope, context: Context): null {
    const { connection } = context.via
    if (method === 'notifications/cancelled') {
      const id = params['requestId']
      const call = typeof id === 'string' || typeof id === 'number' ? connection?.inFlight.get(id) : undefined
      call?.stop(new RpcError('cancelled', 'Cancelled by the client'))
    } else if (options.registry().isRequest(method))
      throw new Unanswered('invalidRequest', `Invalid request: ${method} without an id has no effect; add an id`)
    return null
  }

  function response({ id, message }: ResponseEnvelope, { via }: Context): null {
    if (!via.connection?.settle(id, message))
      throw new Unanswered('invalidRequest', 'Invalid request: nobody asked what this responds to')
    return null
  }

  async function batch(messages: readonly unknown[], context: Context): Promise<readonly Reply[] | null> {
    const { refused: _, ...each } = context
    if (!revisions[legacyRevision(context.via)].batches || messages.some(hasEnvelope))
      throw new RpcError('invalidRequest', 'Invalid request: only 2025-03-26 has batches; send one message at a time')
    if (messages.length === 0 || messages.length > maxBatch)
      throw new RpcError('invalidRequest', `Invalid request: a batch holds 1 to ${maxBatch} messages`)
    if (messages.some((message) => isObject(message) && message['method'] === 'initialize'))
      throw new RpcError('invalidRequest', 'Invalid request: initialize must not be in a batch')
    const replies = await Promise.all(
      messages.map((message) => single(message, each).catch((thrown: unknown) => refuseEarly(thrown, message, each))),
    )
    const answers = replies.filter((reply) => reply !== null)
    return answers.length > 0 ? answers : null
  }

  /** What never reached the layers: not a message, not for this era, an id in use. */
  function refuseEarly(thrown: unknown, message: unknown, context: Context): Reply | null {
    const features = featuresFor(message, context.via)
    const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
    const named = reference()
    const why = thrown instanceof Error ? thrown.message : 'unknown'
    logger.warn({ event: 'refused', reason, message: why, reference: named, transport: context.via.transport })
    if (thrown instanceof RpcError) context.refused?.(thrown, features)
    if (thrown instanceof Unanswered) return null
    return { id: idOf(message), error: toWire(thrown, features?.era ?? 'legacy', named) }
  }
}

/** A refusal of something that gets no answer; transports with statuses can still tell. */
class Unanswered extends RpcError {}

const isCancelled = (thrown: unknown): boolean => thrown instanceof RpcError && thrown.reason === 'cancelled'

const hasEnvelope = (message: unknown): boolean => {
  const params = isObject(message) ? message['params'] : undefined
  const meta = isObject(params) ? params['_meta'] : undefined
  return isObject(meta) && meta[metaKeys.version] !== undefined
}

/** Whose words to refuse in: by the envelope, the session or the header, as far as they can be read. */
export function featuresFor(message: unknown, via: Via): Features | undefined {
  if (hasEnvelope(message)) return revisions['2026-07-28']
  const agreed = via.connection?.agreed?.revision
  const named = agreed ?? via.header('mcp-protocol-version')?.trim()
  return Object.values(revisions).find(({ name }) => name === named)
}
