/**
 * Sends one call to an upstream and returns its answer as ours. Toward the upstream everything is an allow-list: no id,
 * token, key or header of the client leaves. What comes back is cleaned.
 */

import { ClientError, ServerError } from '../client/errors.ts'
import type { QuestionHandlers } from '../client/questions.ts'
import type { Client, RequestOptions } from '../client/types.ts'
import type { Answer, Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { missingCapability, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Mutable } from '../core/mutable.ts'
import type { Seal } from '../core/seal.ts'
import { clientLog, logLevels } from '../protocol/logging.ts'
import { resourceNotFound } from '../protocol/resources.ts'
import { metaKeys, modernRevision } from '../protocol/revisions.ts'
import { toolContextOf } from '../protocol/tool-context.ts'
import type { CalledDefinition, ConnectionCheck } from './connection-check.ts'
import type { ConnectionLease } from './connections.ts'
import { cleanResult } from './hygiene.ts'
import type { ParkedQuestions } from './parked-questions.ts'
import { askClient, beginApproved, parkedQuestions, wasApproved } from './parked-questions.ts'
import type { RecordQuestion } from './question-log.ts'
import type { RecentTimes } from './recent-times.ts'
import { mayRelayQuestions, pick, readAnswers, relayedCapabilities, relayQuestions } from './relay-questions.ts'
import { assertOpened, isPages, toPages } from './required-pages.ts'
import { scopeKeyOf } from './scope.ts'
import { notRun } from './transport-connections.ts'
import { takeTurn } from './turns.ts'
import { toUpstreamError } from './upstream-error.ts'
import type { WatchDeps } from './watches.ts'

export interface RelayDeps extends Omit<WatchDeps, 'clock'> {
  readonly times: RecentTimes
  /** Answers with the roots of the configuration, if there are any. */
  readonly roots: QuestionHandlers['roots']
  readonly seal: Seal
  readonly record: RecordQuestion
  /** Whether all calls share one stream, so that a question before 2026-07-28 names no call. */
  readonly isChannel: boolean
  readonly verify: ConnectionCheck['verify']
}

export interface RelayRequest {
  readonly method: string
  readonly params: Params
  /** The tool is called as a task of 2025-11-25, because the upstream requires it. */
  readonly asTask?: boolean
  /** Whether the upstream may ask during a call that needed an approval. */
  readonly relaysQuestions?: boolean
  readonly called?: CalledDefinition | undefined
}

export type Relay = (call: Call, request: RelayRequest) => Promise<Result>

/** Log messages of one call that are passed on, and the characters of one message. */
const maxLogs = 1000
const maxLogLength = 64 * 1024

export function createRelay(deps: RelayDeps): Relay {
  const { name, scope, connections, seal } = deps

  return function relay(call, request) {
    if (call.params['requestState'] !== undefined || call.params['inputResponses'] !== undefined)
      return continued(call, request)
    return exchange(call, request, request.params).then((result) =>
      result['resultType'] === 'input_required' ? questionsOf(call, request, result) : cleanResult(result),
    )
  }

  function questionsOf(call: Call, request: RelayRequest, result: Params): Promise<Result> {
    return mayRelayQuestions(call) ? relayQuestions(call, name, result, undefined, seal) : asked(call, request, result)
  }

  /** The key or the ticket is spent, so the call waits here for the answers and repeats the request upstream. */
  async function asked(call: Call, request: RelayRequest, first: Params): Promise<Result> {
    let result = first
    for (let round = 0; result['resultType'] === 'input_required'; round++) {
      const answers = await askClient(call, request, { upstream: name, result, round, record: deps.record })
      if (isPages(result)) assertOpened(name, answers['inputResponses'] as Params)
      result = await exchange(call, request, { ...request.params, ...(!isPages(result) && answers) })
    }
    return cleanResult(result)
  }

  /** A later round: the answers go upstream with the upstream's own state. */
  async function continued(call: Call, request: RelayRequest): Promise<Result> {
    const { params, state } = await readAnswers(call, name, seal)
    const result = await exchange(call, request, { ...request.params, ...params })
    return result['resultType'] === 'input_required'
      ? relayQuestions(call, name, result, state, seal)
      : cleanResult(result)
  }

  /** Sends once, and once more only if the connection failed before anything was sent. */
  function exchange(call: Call, request: RelayRequest, params: Params): Promise<Params> {
    const failed = (thrown: unknown): Params => pagesOr(thrown, call, request)
    return attempt(call, request, params).catch((thrown: unknown) =>
      !isUnsent(thrown) || call.stop.reason ? failed(thrown) : attempt(call, request, params).catch(failed),
    )
  }

  function pagesOr(thrown: unknown, call: Call, request: RelayRequest): Params {
    const pages = toPages(thrown, call, name)
    if (!pages) throw refusalOf(thrown, request)
    return pages
  }

  async function attempt(call: Call, request: RelayRequest, params: Params): Promise<Params> {
    const key = scopeKeyOf(scope, call, deps.credentialOf?.(call))
    const acquired = connections.acquire(key, call.stop)
    const lease: ConnectionLease = acquired instanceof Promise ? await acquired : acquired
    const from = deps.times.now()
    let failure: unknown
    let questions: ParkedQuestions | undefined
    let endTurn: (() => void) | undefined
    try {
      const checking = deps.verify(lease.client, key.text, request.called)
      if (checking) await checking
      if (lease.client.agreement.era === 'legacy') {
        if (deps.isChannel) {
          const turn = takeTurn(lease.client, wasApproved(call), call.stop)
          endTurn = turn instanceof Promise ? await turn : turn
        } else if (wasApproved(call)) endTurn = beginApproved(lease.client)
      }
      questions = parkedQuestions(call, request, deps, lease.client)
      const options = optionsOf(call, questions, lease.client)
      if (request.asTask && !request.called) await listTools(lease.client, call)
      const result = await (request.asTask
        ? lease.client.callTool(String(params['name']), params['arguments'] as Params, options)
        : lease.client.request(request.method, params, options))
      if (result['isError'] === true && questions?.refusal !== undefined) throw questions.refusal
      return result
    } catch (thrown) {
      // An upstream that fails because its question was refused fails for that reason: it says what the client lacks.
      failure = questions?.refusal ?? thrown
      throw failure
    } finally {
      endTurn?.()
      deps.times.record(from)
      lease.release(failure)
    }
  }

  function optionsOf(call: Call, questions: ParkedQuestions | undefined, { agreement }: Client): RequestOptions {
    const level = call.revision === modernRevision ? call.meta[metaKeys.logLevel] : 'debug'
    // A server before 2026-07-28 may ask for more than this client declared. It is refused when it asks.
    const capabilities =
      questions && agreement.era === 'legacy' ? everything : relayedCapabilities(call, questions !== undefined)
    const options: Mutable<RequestOptions> = {
      stop: call.stop,
      // The layers have the deadline, and stop the call.
      timeoutMs: Number.POSITIVE_INFINITY,
      inputRequired: 'return',
      capabilities: deps.roots ? { ...capabilities, roots: {} } : capabilities,
      onNotification: logsOf(call),
    }
    if (questions) options.handlers = questions
    if (typeof level === 'string') options.logLevel = level
    if (call.meta['progressToken'] !== undefined) options.onProgress = progressOf(call)
    return options
  }

  function refusalOf(thrown: unknown, { method, params }: RelayRequest): unknown {
    if (thrown instanceof ServerError)
      return method === 'resources/read' && notFound.has(thrown.code)
        ? resourceNotFound(String(params['uri']))
        : relayedError(name, thrown)
    if (thrown instanceof ClientError || thrown instanceof RpcError) return toUpstreamError(thrown, name)
    return thrown
  }
}

const listed = new WeakSet<Client>()

/** Lists the tools once: only then the client calls one as a task. A connection that was compared has listed them. */
async function listTools(client: Client, { stop }: Call): Promise<void> {
  if (listed.has(client)) return
  try {
    for await (const _ of client.tools({ stop }));
  } catch (thrown) {
    throw notRun(thrown)
  }
  listed.add(client)
}

const everything: Params = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** Nothing was sent, so the request can be repeated. */
const isUnsent = (thrown: unknown): boolean =>
  (thrown instanceof ClientError && thrown.reason === 'unreachable' && !thrown.mayHaveRun) ||
  (thrown instanceof RpcError && thrown.reason === 'upstreamUnavailable' && isUnsent(thrown.cause))

function progressOf(call: Call): (progress: Params) => void {
  const { progress: report } = toolContextOf(call, {})
  return ({ progress, total, message }) => {
    if (typeof progress !== 'number') return
    report(
      progress,
      typeof total === 'number' ? total : undefined,
      typeof message === 'string' ? message.slice(0, 2000) : undefined,
    )
  }
}

/** Passes on log messages of the call's own stream, at the level that this client asked for. */
function logsOf(call: Call): (method: string, params: Params) => void {
  let sent = 0
  return (method, { level, data, logger }) => {
    if (method !== 'notifications/message' || sent >= maxLogs) return
    const known = logLevels.find((each) => each === level)
    if (!known || data === undefined || JSON.stringify(data).length > maxLogLength) return
    sent++
    clientLog(call)(known, data, typeof logger === 'string' ? logger.slice(0, 200) : undefined)
  }
}

/** Codes that mean something between this client and the gateway. From an upstream they would mislead the client. */
const ownCodes: ReadonlySet<number> = new Set([-32700, -32020, -32021, -32022, -32042])
/** Both revisions' codes for a resource that does not exist. */
const notFound: ReadonlySet<number> = new Set([-32002, -32602])
const maxErrorText = 4000
const maxErrorData = 16 * 1024

/** Returns the upstream's error with its code and text. Its data is below one member, so that it cannot pose as ours. */
function relayedError(upstream: string, { code, message, data }: ServerError): RpcError {
  // The upstream saw exactly the client's own capabilities, so what it misses is missing in the client.
  if (code === -32021 && isObject(data) && isObject(data['requiredCapabilities']))
    return missingCapability(pick(data['requiredCapabilities'], ['elicitation', 'sampling', 'roots']))
  const isOwn = ownCodes.has(code) || (code <= -32000 && code >= -32019) || (code >= 40_000 && code < 60_000)
  const text = data === undefined ? '' : JSON.stringify(data)
  return new RpcError('upstreamError', message.slice(0, maxErrorText), {
    ...(!isOwn && { code }),
    data: { upstream, ...(text !== '' && text.length <= maxErrorData && { data: withoutReserved(data) }) },
  })
}

const withoutReserved = (data: unknown): unknown =>
  isObject(data) && '_meta' in data ? { ...data, _meta: undefined } : data

/** Returns the answer if it has what the method's result must have. Otherwise clients would refuse it as malformed. */
export function assertResult(answer: Result, member: string, upstream: string): Answer {
  if (Array.isArray(answer[member])) return answer
  if (member === 'content' && answer['structuredContent'] !== undefined) return { ...answer, content: [] }
  throw new RpcError('upstreamError', `${upstream} answered with a result that has no "${member}"`)
}
