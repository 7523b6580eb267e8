/**
 * Requests in flight on one transport: ids, deadlines, cancellation, progress, and the questions a server asks meanwhile.
 * Every request ends exactly once, whatever the server sends.
 */

import type { Clock } from '../core/clock.ts'
import { Counts } from '../core/counts.ts'
import { InFlight } from '../core/in-flight.ts'
import type { Id, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { metaKeys } from '../protocol/revisions.ts'
import { ClientError, toServerError } from './errors.ts'
import type { Message } from './message.ts'
import type { QuestionContext } from './questions.ts'
import { UndeclaredQuestion } from './questions.ts'
import type { Receiver, Transport } from './transport.ts'

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly stop?: { onStop(then: () => void): () => void } | undefined
  readonly timeoutMs: number
  readonly headers?: { readonly [name: string]: string }
  /** `initialize` cannot be cancelled. */
  readonly cancellable?: boolean
  onProgress?: ((progress: Params) => void) | undefined
  /** Notifications on the request's own stream, or with its progress token. */
  onNotification?: ((method: string, params: Params) => void) | undefined
  answer?: ((question: ServerQuestion, context: QuestionContext) => Promise<Params>) | undefined
}

export interface ServerQuestion {
  readonly method: string
  readonly params: Params
}

export interface SessionListener {
  /** Called for every notification that no request took, and for changes on the streams of requests. */
  notification(method: string, params: Params): void
  /** Answers a question that belongs to no request in flight. */
  answer(question: ServerQuestion, context: QuestionContext): Promise<Params>
  ignored(problem: string): void
  closed(error: ClientError): void
  /** The standalone stream cannot be opened again. */
  streamEnded(): void
}

/** A server that asks without waiting for answers must not fill the memory. */
export const maxOpenQuestions = 64

export interface ClientSession {
  nextId(): number
  /** Sends one request and resolves with its raw result. */
  ask(id: number, method: string, params: Params, options: AskOptions): Promise<Params>
  notify(method: string, params: Params): Promise<void>
  /** Says whether this side of the connection may be asked. Servers of 2026-07-28 must not. */
  allowQuestions(allowed: boolean): void
  /** Gives up after `timeoutMs`: a server may accept a connection and then say nothing. */
  open(options: Pick<AskOptions, 'timeoutMs' | 'signal'>): Promise<void>
  close(): Promise<void>
}

export function createSession(transport: Transport, listener: SessionListener, clock: Clock): ClientSession {
  const pending = new InFlight<Pending>()
  const open = new Map<Id, AbortController>()
  let questionsAllowed = false
  let ids = 0
  let generation = 0
  /** A server may answer with any id. */
  const requestOf = (id: unknown): Pending | undefined => (typeof id === 'number' ? pending.get(id) : undefined)

  function failAll(error: ClientError): void {
    for (const request of pending) request.reject(error)
    for (const controller of open.values()) controller.abort(error)
    open.clear()
  }

  function respond(message: Message, on: Id | undefined, status: number | undefined): void {
    const request = requestOf(message.id)
    if (!request || (on !== undefined && on !== message.id))
      listener.ignored('a response that matches no pending request')
    else if (message.error !== undefined) request.reject(toServerError(message.error, status))
    else if (isObject(message.result)) request.resolve(message.result)
    else request.reject(new ClientError('protocol', 'The server answered with a result that is not an object'))
  }

  function notified(method: string, params: Params, on: Id | undefined): void {
    if (method === 'notifications/cancelled') withdrawn(params['requestId'] as Id)
    const token = method === 'notifications/progress' ? params['progressToken'] : (on ?? subscriptionOf(params))
    const request = requestOf(token)
    const { options } = request?.parts ?? {}
    try {
      if (method === 'notifications/progress') options?.onProgress?.(params)
      options?.onNotification?.(method, params)
      // A server may announce changes on the stream of any request, and they concern more than that request.
      const isTaken = options?.onNotification && !(isChange(method) && request?.parts.method !== subscribing)
      if (!isTaken) listener.notification(method, params)
    } catch {
      listener.ignored(`a handler of ${method} threw`)
    }
  }

  /** Before 2026-07-28 a server withdraws a question; from then on it ends a subscription. */
  function withdrawn(id: Id): void {
    if (questionsAllowed) {
      open.get(id)?.abort(new ClientError('cancelled', 'The server cancelled its question'))
      open.delete(id)
      return
    }
    const request = requestOf(id)
    if (request?.parts.method === subscribing)
      request.reject(new ClientError('closed', 'The server ended the subscription'))
  }

  /** How many questions each request is answering. */
  const answering = new Counts<Pending>()

  /**
   * A channel does not say which request a question belongs to. It is the oldest one that can answer and waits for no
   * answer yet, otherwise the newest: a server often asks several questions at once.
   */
  function askedBy(on: Id | undefined): { request: Pending | undefined } & Pick<QuestionContext, 'attribution'> {
    if (on !== undefined) return { request: requestOf(on), attribution: 'stream' }
    const able = [...pending]
      .filter(({ parts }) => parts.options.answer)
      .sort((one, other) => one.parts.id - other.parts.id)
    const request = able.find((each) => answering.get(each) === 0) ?? able.at(-1)
    return { request, attribution: able.length === 1 ? 'only call' : 'oldest call' }
  }
  async function answerFor(
    request: Pending | undefined,
    question: ServerQuestion,
    context: QuestionContext,
  ): Promise<Params> {
    if (!request?.parts.options.answer) return listener.answer(question, context)
    answering.add(request, 1)
    try {
      return await request.parts.options.answer(question, context)
    } finally {
      answering.add(request, -1)
    }
  }

  async function asked(id: Id, method: string, params: Params, on: Id | undefined): Promise<void> {
    const born = generation
    const controller = new AbortController()
    let answer: Pick<Message, 'result' | 'error'>
    try {
      if (method === 'ping') answer = { result: {} }
      else if (open.has(id)) answer = { error: { code: -32600, message: 'This id is in use' } }
      else if (open.size >= maxOpenQuestions) answer = { error: { code: -32603, message: 'Too many open questions' } }
      else {
        open.set(id, controller)
        const { request, attribution } = askedBy(on)
        const context: QuestionContext = {
          ...{ signal: controller.signal, method: request?.parts.method },
          ...(request && attribution && { attribution }),
        }
        answer = { result: await answerFor(request, { method, params }, context) }
      }
    } catch (thrown) {
      answer =
        thrown instanceof UndeclaredQuestion
          ? { error: { code: -32601, message: thrown.message } }
          : // The handler's own words may hold secrets.
            { error: { code: -32603, message: 'The client could not answer' } }
    } finally {
      if (open.get(id) === controller) open.delete(id)
    }
    if (born === generation && !controller.signal.aborted) await transport.send({ jsonrpc: '2.0', id, ...answer })
  }

  const receiver: Receiver = {
    message(message, on, status) {
      const { id, method } = message
      if (method === undefined) respond(message, on, status)
      else if (id === undefined || id === null) notified(method, message.params ?? {}, on)
      else if (!questionsAllowed) listener.ignored(`a request by the server (${method.slice(0, 64)})`)
      else
        asked(id, method, message.params ?? {}, on).catch(() => {
          // The transport is closed, and the request that was asked about fails by itself.
        })
    },
    ignored: (problem) => listener.ignored(problem),
    streamEnded: () => listener.streamEnded(),
    closed(error) {
      generation++
      failAll(error)
      listener.closed(error)
    },
  }

  function openTransport({ timeoutMs, signal }: Pick<AskOptions, 'timeoutMs' | 'signal'>): Promise<void> {
    if (signal?.aborted) return Promise.reject(cancelled(false))
    return new Promise((resolve, reject) => {
      let isOver = false
      let cancelTimer = (): void => {}
      function end(settle: () => void): void {
        if (isOver) return
        isOver = true
        cancelTimer()
        signal?.removeEventListener('abort', abort)
        settle()
      }
      const giveUp = (error: ClientError): void =>
        end(() => {
          reject(error)
          transport.close().catch(() => {})
        })
      const abort = (): void => giveUp(cancelled(false))
      if (Number.isFinite(timeoutMs))
        cancelTimer = clock.after(timeoutMs, () =>
          giveUp(new ClientError('timeout', `No connection within ${timeoutMs} ms`, { mayHaveRun: false })),
        )
      signal?.addEventListener('abort', abort, { once: true })
      transport.open(receiver).then(
        () => {
          // It opened after all.
          if (isOver) transport.close().catch(() => {})
          end(resolve)
        },
        (thrown: unknown) => end(() => reject(thrown)),
      )
    })
  }

  function ask(id: number, method: string, params: Params, options: AskOptions): Promise<Params> {
    const { signal, stop, timeoutMs, headers } = options
    if (signal?.aborted) return Promise.reject(cancelled(false))
    return new Promise<Params>((resolve, reject) => {
      const request = new Pending({ pending, id, method, options, resolve, reject, ended })
      pending.add(request, id)
      if (Number.isFinite(timeoutMs)) request.cancelTimer = clock.after(timeoutMs, () => request.timedOut())
      if (signal) {
        const abort = (): void => request.end(cancelled(true))
        signal.addEventListener('abort', abort, { once: true })
        request.unfollow = () => signal.removeEventListener('abort', abort)
      }
      if (stop) request.unlisten = stop.onStop(() => request.end(cancelled(true)))
      // A request that is stopped already is not sent.
      if (pending.get(id) !== request) return
      let sent: Promise<void>
      try {
        sent = transport.send({ jsonrpc: '2.0', id, method, params }, headers)
      } catch (cause) {
        // A value that is not JSON. The request would otherwise stay pending.
        return request.reject(new ClientError('protocol', 'The request cannot be sent', { mayHaveRun: false, cause }))
      }
      sent.then(
        () => {
          // Over HTTP the stream has ended, so no answer will come.
          if (transport.abort && pending.get(id) === request)
            request.reject(new ClientError('closed', 'The server ended the response without an answer'))
        },
        (thrown: unknown) => {
          if (pending.get(id) === request)
            request.reject(thrown instanceof Error ? thrown : new ClientError('closed', 'Not sent', { cause: thrown }))
        },
      )
    })
  }
  function ended({ id, options }: PendingParts, { reason }: ClientError): void {
    if (options.cancellable !== false) cancel(id, reason)
    transport.abort?.(id)
  }

  /** 2026-07-28 over HTTP is cancelled by closing the stream; every other connection needs the notification. */
  function cancel(requestId: Id, reason: string): void {
    if (transport.abort && !questionsAllowed) return
    transport
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } })
      .catch(() => listener.ignored('a cancellation could not be sent'))
  }

  return {
    nextId: () => ++ids,
    ask,
    notify: (method, params) => transport.send({ jsonrpc: '2.0', method, params }),
    allowQuestions(allowed) {
      questionsAllowed = allowed
    },
    open: openTransport,
    async close() {
      generation++
      failAll(new ClientError('closed', 'The client was closed'))
      await transport.close()
    },
  }
}

const subscribing = 'subscriptions/listen'
const isChange = (method: string): boolean => /^notifications\/(\w+\/list_changed|resources\/updated)$/.test(method)

interface PendingParts {
  readonly pending: InFlight<Pending>
  readonly id: number
  readonly method: string
  readonly options: AskOptions
  resolve(result: Params): void
  reject(error: Error): void
  /** Called if this side ends the request. */
  ended(parts: PendingParts, error: ClientError): void
}

/** A request without its answer. A class, because a gateway makes one per call, and closures would be made for each. */
class Pending {
  readonly parts: PendingParts
  cancelTimer: (() => void) | undefined = undefined
  unfollow: (() => void) | undefined = undefined
  unlisten: (() => void) | undefined = undefined
  constructor(parts: PendingParts) {
    this.parts = parts
  }
  resolve(result: Params): void {
    this.#settle()
    this.parts.resolve(result)
  }
  reject(error: Error): void {
    this.#settle()
    this.parts.reject(error)
  }
  end(error: ClientError): void {
    this.reject(error)
    this.parts.ended(this.parts, error)
  }
  timedOut(): void {
    const { method, options } = this.parts
    this.end(new ClientError('timeout', `The server did not answer ${method} within ${options.timeoutMs} ms`))
  }
  #settle(): void {
    this.parts.pending.delete(this.parts.id)
    this.cancelTimer?.()
    this.unfollow?.()
    this.unlisten?.()
  }
}

/** On a channel the notifications of a subscription name it. */
const subscriptionOf = ({ _meta: meta }: Params): unknown => (isObject(meta) ? meta[metaKeys.subscription] : undefined)

const cancelled = (mayHaveRun: boolean): ClientError => new ClientError('cancelled', 'Cancelled', { mayHaveRun })
