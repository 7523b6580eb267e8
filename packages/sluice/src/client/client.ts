/**
 * The MCP client: one interface for all revisions. Results are returned as the server sent them, unknown members
 * included, because a gateway must relay fields it does not know.
 */

import { systemClock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Mutable } from '../core/mutable.ts'
import { metaKeys } from '../protocol/revisions.ts'
import { createResultCache } from './cache.ts'
import { ClientError, errorCodes, ServerError } from './errors.ts'
import { mirrorHeaders } from './http/mirror.ts'
import { entriesOf, pagesOf } from './lists.ts'
import type { ServerAgreement } from './negotiate.ts'
import { envelope, needsNewAgreement, negotiate } from './negotiate.ts'
import type { QuestionContext } from './questions.ts'
import { answerQuestion, capabilitiesOf } from './questions.ts'
import { withRounds, withUrls } from './rounds.ts'
import type { AskOptions, ServerQuestion } from './session.ts'
import { createSession } from './session.ts'
import type { Subscription, SubscriptionFilter, SubscriptionListener } from './subscriptions.ts'
import { listen } from './subscriptions.ts'
import { awaitTask, taskOf, tasksExtension } from './tasks.ts'
import { createToolFacts, isToolCall } from './tool-facts.ts'
import type { Transport } from './transport.ts'
import type { CallToolOptions, Client, ClientOptions, RequestOptions } from './types.ts'

/** Connects to a server: opens the transport and agrees on a revision. */
export async function connect(transport: Transport, options: ClientOptions = {}): Promise<Client> {
  const { clock = systemClock, timeoutMs = 60_000, probeMs = 5000, handlers = {}, revision, era, eras } = options
  const clientInfo = options.clientInfo ?? { name: 'sluice', version: '0.1.0' }
  const own = capabilitiesOf(handlers, options.capabilities)
  const declared = options.tasks ? withTasks(own) : own
  const cache = createResultCache(clock)
  /** Subscribers before 2026-07-28, and the resources that each subscribed to. */
  const subscribers = new Map<SubscriptionListener, readonly string[]>()
  let isClosed = false
  const facts = createToolFacts((problem) => options.onIgnored?.(problem))
  const session = createSession(
    transport,
    {
      notification(method, params) {
        cache.notified(method)
        for (const subscriber of [...subscribers.keys()]) subscriber.notification(method, params)
        options.onNotification?.(method, params)
      },
      answer: (question, context) => answerQuestion(question, handlers, declared, context),
      ignored: (problem) => options.onIgnored?.(problem),
      closed(error) {
        endSubscriptions(error)
        options.onClose?.(error)
      },
      // The session may be lost. A request finds out, and opens another one.
      streamEnded() {
        if (subscribers.size > 0) request('ping').catch(() => {})
      },
    },
    clock,
  )
  function endSubscriptions(error: Error): void {
    isClosed = true
    for (const subscriber of [...subscribers.keys()]) subscriber.ended?.(error)
    subscribers.clear()
  }
  const agree = (signal?: AbortSignal): Promise<ServerAgreement> =>
    negotiate({
      ...{ session, transport },
      ...{ clientInfo, capabilities: declared, revision, era, eras, timeoutMs, probeMs, signal },
    })

  await session.open({ timeoutMs, signal: options.signal })
  let agreement: ServerAgreement
  try {
    agreement = await agree(options.signal)
  } catch (thrown) {
    await session.close()
    throw thrown
  }
  // A server may have ended the connection while the revision was agreed on.
  isClosed = false

  let renewing: Promise<ServerAgreement> | undefined
  /** One new agreement, however many requests found out that they need it. */
  async function renew(old: ServerAgreement): Promise<void> {
    if (agreement !== old) return
    renewing ??= agree().finally(() => {
      renewing = undefined
    })
    const renewed = await renewing
    if (agreement === renewed) return
    agreement = renewed
    cache.clear()
    for (const [subscriber, uris] of subscribers)
      resubscribe(subscriber, uris).catch((thrown: Error) => subscriber.ended?.(thrown))
  }

  /** A new session has no subscriptions. */
  async function resubscribe(subscriber: SubscriptionListener, uris: readonly string[]): Promise<void> {
    for (const uri of uris) await request('resources/subscribe', { uri })
    subscriber.reopened?.()
  }

  const capabilitiesFor = (request: RequestOptions): Params =>
    request.capabilities ?? (request.handlers ? capabilitiesOf(request.handlers) : declared)

  function answerer(
    request: RequestOptions,
    method: string,
  ): (question: ServerQuestion, context?: QuestionContext) => Promise<Params> {
    const capabilities = capabilitiesFor(request)
    return (question, context) =>
      answerQuestion(
        question,
        request.handlers ?? handlers,
        capabilities,
        context ?? { signal: request.signal ?? new AbortController().signal, method },
      )
  }

  /** One message, one answer: no rounds, no repetition. */
  function send(method: string, params: Params, request: RequestOptions): Promise<Params> {
    const id = session.nextId()
    const isModern = agreement.era === 'modern'
    const { logLevel, onProgress } = request
    const ask: Mutable<AskOptions> = {
      signal: request.signal,
      stop: request.stop,
      timeoutMs: request.timeoutMs ?? timeoutMs,
      onProgress,
      onNotification: request.onNotification,
    }
    if (isModern && transport.mirrorsHeaders)
      ask.headers = mirrorHeaders(method, params, isToolCall(method, params) ? facts.headersOf(params['name']) : [])
    if (!isModern && (request.handlers || request.capabilities)) ask.answer = answerer(request, method)
    if (!isModern && onProgress === undefined) return session.ask(id, method, params, ask)
    const given = params['_meta']
    const meta: { [key: string]: unknown } = isObject(given) ? { ...given } : {}
    if (isModern) Object.assign(meta, envelope(clientInfo, capabilitiesFor(request)))
    if (isModern && logLevel !== undefined) meta[metaKeys.logLevel] = logLevel
    if (onProgress) meta['progressToken'] = id
    return session.ask(id, method, { ...params, _meta: meta }, ask)
  }

  /** Repeats a request once if it certainly did not run: lost session, another era, unknown headers. */
  async function sendSurely(method: string, params: Params, request: RequestOptions): Promise<Params> {
    const before = agreement
    try {
      return await send(method, params, request)
    } catch (thrown) {
      if (thrown instanceof ServerError && thrown.code === errorCodes.headerMismatch && isToolCall(method, params)) {
        for await (const page of pages('tools/list')) facts.learn(page['tools'])
        if (facts.headersOf(params['name']).length === 0) throw thrown
      } else if (needsNewAgreement(thrown, before)) {
        await renew(before)
        if (
          thrown instanceof ServerError &&
          thrown.code !== errorCodes.unsupportedVersion &&
          agreement.era === before.era
        )
          throw thrown
      } else throw thrown
      return send(method, params, request)
    }
  }

  function request(method: string, params: Params = {}, options: RequestOptions = {}): Promise<Params> {
    // Results of calls are not kept, and a gateway sends little else.
    return method === 'tools/call' && options.inputRequired === 'return'
      ? sendSurely(method, params, options)
      : requestKept(method, params, options)
  }

  async function requestKept(method: string, params: Params, options: RequestOptions): Promise<Params> {
    const kept = options.cached ? cache.get(method, params) : undefined
    if (kept) return kept
    const { changes } = cache
    const ask = (next: Params): Promise<Params> => sendSurely(method, next, options)
    let result: Params
    if (options.inputRequired === 'return') result = await ask(params)
    else if (agreement.era === 'modern')
      result = await withRounds(params, { ask, answer: answerer(options, method), clock, signal: options.signal })
    else result = await withUrls(() => ask(params), answerer(options, method))
    if (method === 'tools/list') facts.learn(result['tools'])
    cache.set(method, params, result, changes)
    return result
  }

  const pages = (
    method: string,
    params: Params = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Params, void, undefined> => pagesOf((next) => request(method, next, options), params)

  async function* tools(options?: RequestOptions): AsyncGenerator<Params, void, undefined> {
    const isMirrored = transport.mirrorsHeaders && agreement.era === 'modern'
    for await (const tool of entriesOf(pages('tools/list', {}, options), 'tools'))
      if (!isMirrored || facts.problemOf(tool['name']) === undefined) yield tool
  }

  /** 2025-11-25: the client says that a call becomes a task, if server and tool allow it. */
  function legacyTask(name: string): Params {
    const { tasks } = agreement.capabilities
    const { requests } = isObject(tasks) ? tasks : {}
    const { tools } = isObject(requests) ? requests : {}
    const isOffered = isObject(tools) && isObject(tools['call'])
    return options.tasks === true && agreement.era === 'legacy' && isOffered && facts.supportsTask(name)
      ? { task: {} }
      : {}
  }

  async function callTool(name: string, args: Params = {}, options: CallToolOptions = {}): Promise<Params> {
    const task = legacyTask(name)
    const result = await request('tools/call', { name, arguments: args, ...task }, options)
    const found = taskOf(result)
    if (!found) return result
    const { onProgress: _progress, ...rest } = options
    const { signal: _signal, stop: _stop, timeoutMs: _timeout, ...unsignalled } = rest
    return awaitTask(found.task, found.legacy, {
      ask: (method, params) => request(method, params, rest),
      askAnyway: (method, params) => request(method, params, unsignalled),
      answer: answerer(options, 'tools/call'),
      onStatus: options.onTask,
      signal: endOf(options),
      clock,
    })
  }

  async function subscribe(filter: SubscriptionFilter, listener: SubscriptionListener): Promise<Subscription> {
    const watching: SubscriptionListener = {
      ...listener,
      notification(method, params) {
        cache.notified(method)
        listener.notification(method, params)
      },
    }
    if (agreement.era === 'modern')
      return listen(filter, watching, {
        clock,
        isClosed: () => isClosed,
        listen: (notifications, signal, notification) =>
          send(
            'subscriptions/listen',
            { notifications },
            { signal, timeoutMs: Number.POSITIVE_INFINITY, onNotification: notification },
          ),
      })
    const uris = filter.resourceSubscriptions ?? []
    // First, so that an update right after the subscription is not missed.
    subscribers.set(watching, uris)
    try {
      for (const uri of uris) await request('resources/subscribe', { uri })
    } catch (thrown) {
      subscribers.delete(watching)
      throw thrown
    }
    return {
      accepted: { ...filter },
      async close() {
        subscribers.delete(watching)
        for (const uri of uris) await request('resources/unsubscribe', { uri }).catch(() => undefined)
      },
    }
  }

  return {
    get agreement() {
      return agreement
    },
    request,
    notify: (method, params = {}) =>
      session.notify(
        method,
        agreement.era === 'modern'
          ? {
              ...params,
              _meta: { ...(isObject(params['_meta']) && params['_meta']), ...envelope(clientInfo, declared) },
            }
          : params,
      ),
    callTool,
    tools,
    prompts: (options) => entriesOf(pages('prompts/list', {}, options), 'prompts'),
    resources: (options) => entriesOf(pages('resources/list', {}, options), 'resources'),
    resourceTemplates: (options) => entriesOf(pages('resources/templates/list', {}, options), 'resourceTemplates'),
    pages,
    subscribe,
    close() {
      endSubscriptions(new ClientError('closed', 'The client was closed'))
      return session.close()
    },
  }
}

/** Returns a signal that ends with the caller's signal, or with its stop. */
function endOf({ signal, stop }: RequestOptions): AbortSignal | undefined {
  if (!stop) return signal
  const controller = new AbortController()
  stop.onStop(() => controller.abort())
  return signal ? AbortSignal.any([signal, controller.signal]) : controller.signal
}

const withTasks = (capabilities: Params): Params => ({
  ...capabilities,
  extensions: { ...(isObject(capabilities['extensions']) && capabilities['extensions']), [tasksExtension]: {} },
})
