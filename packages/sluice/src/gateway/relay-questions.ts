/**
 * Questions of an upstream to the client. A question of 2026-07-28 is relayed without state in the gateway: the
 * upstream's own state travels inside our sealed state, bound to this caller, tool, definition and arguments. So any
 * process can continue, and no other caller can.
 */

import type { QuestionHandlers } from '../client/questions.ts'
import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import { digest } from '../core/digest.ts'
import { fail, invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Seal } from '../core/seal.ts'
import type { Question } from '../core/target.ts'
import { assertAskable } from '../layers/elicitation.ts'
import { hasIdempotencyKey } from '../layers/idempotency-key.ts'

/** How long a person may take to answer. */
const answerTtlMs = 10 * 60_000
const maxRounds = 10
/** Rounds in which an upstream may repeat the same questions. */
const maxRepeats = 3
const maxQuestions = 16
const maxStateLength = 64 * 1024
const maxQuestionLength = 256 * 1024

/** The sealed state of a relayed round. */
interface RelayState {
  /** The upstream's own state. */
  readonly state?: string
  /** The questions that were asked: the upstream's keys, and their methods. */
  readonly asked: { readonly [key: string]: string }
  readonly round: number
  readonly repeats: number
  readonly digest: string
}

/** Answers for the upstream, and the state of the round they belong to. */
export interface RelayedAnswers {
  readonly params: Params
  readonly state: RelayState | undefined
}

const firstRound: RelayedAnswers = { params: {}, state: undefined }

/**
 * Returns whether the questions of this call can be relayed. A call with an idempotency key or an approval has spent
 * them in the first round, so a second round would need the call to be parked.
 */
export const mayRelayQuestions = (call: Call): boolean =>
  call.ticketId === undefined && call.facts['grant'] === undefined && !hasIdempotencyKey(call)

const empty: Params = {}

/** Returns the capabilities to declare upstream: the client's, as far as its questions can be relayed. */
export function relayedCapabilities(call: Call): Params {
  const { elicitation, sampling, roots } = call.capabilities
  if (elicitation === undefined && sampling === undefined && roots === undefined) return empty
  if (!mayRelayQuestions(call)) return empty
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots: {} }),
  }
}

/** Reads the client's answers to relayed questions. Only questions that were asked, and only their known members. */
export async function readAnswers(call: Call, upstream: string, seal: Seal): Promise<RelayedAnswers> {
  const sealed = call.params['requestState']
  if (sealed === undefined || !mayRelayQuestions(call)) return firstRound
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const opened = await seal.open(sealed, [upstream, ...callBinding(call)])
  if (!isRelayState(opened)) return firstRound
  const given = call.params['inputResponses'] ?? {}
  if (!isObject(given)) throw invalidParams('inputResponses must be an object')
  const answers = Object.entries(opened.asked).flatMap(([key, method]) => {
    const answer = given[`${upstream}/${key}`]
    return isObject(answer) ? [[key, pick(answer, answerMembers[method] ?? [])] as const] : []
  })
  return {
    params: {
      inputResponses: Object.fromEntries(answers),
      ...(opened.state !== undefined && { requestState: opened.state }),
    },
    state: opened,
  }
}

/** Returns the upstream's questions as ours, or refuses them. */
export async function relayQuestions(
  call: Call,
  upstream: string,
  result: Params,
  previous: RelayState | undefined,
  seal: Seal,
): Promise<Result> {
  if (!mayRelayQuestions(call)) throw refuseToPark(upstream)
  const { inputRequests = {}, requestState } = result
  if (requestState !== undefined && (typeof requestState !== 'string' || requestState.length > maxStateLength))
    throw fail(`${upstream} sent a state that is longer than ${maxStateLength} characters`)
  if (!isObject(inputRequests)) throw fail(`${upstream} sent questions that cannot be read`)
  const entries = Object.entries(inputRequests)
  if (entries.length > maxQuestions || JSON.stringify(inputRequests).length > maxQuestionLength)
    throw fail(`${upstream} asks too much at once`)
  const questions = entries.map(([key, request]) => [key.slice(0, 128), cleanQuestion(upstream, request)] as const)
  assertAskable(
    questions.map(([, question]) => question),
    call,
  )
  const asked = digest(JSON.parse(JSON.stringify(inputRequests)))
  const round = (previous?.round ?? 0) + 1
  const repeats = previous?.digest === asked ? previous.repeats + 1 : 0
  if (round > maxRounds || repeats >= maxRepeats) throw fail(`${upstream} asks again and again; the call was given up`)
  const state: RelayState = {
    ...(requestState !== undefined && { state: requestState }),
    asked: Object.fromEntries(questions.map(([key, { method }]) => [key, method])),
    ...{ round, repeats, digest: asked },
  }
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(
      questions.map(([key, { method, params }]) => [`${upstream}/${key}`, { method, params }]),
    ),
    requestState: await seal.seal(state, [upstream, ...callBinding(call)], answerTtlMs),
  }
}

/**
 * Answers a question that an upstream before 2026-07-28 asks during a call. The call would have to be parked while the
 * client is asked. This is the only place that decides so; a plugin that parks calls replaces these handlers.
 */
export function unparkedHandlers(
  upstream: string,
  roots: readonly string[] | undefined,
  refused: (reason: string) => void,
): QuestionHandlers {
  const refuse = (): never => {
    const refusal = refuseToPark(upstream)
    refused(refusal.message)
    throw refusal
  }
  return {
    form: refuse,
    url: refuse,
    sampling: refuse,
    roots: () => (roots ? { roots: roots.map((uri) => ({ uri })) } : refuse()),
  }
}

const refuseToPark = (upstream: string): ReturnType<typeof fail> =>
  fail(`${upstream} asks a question in the middle of a call, and this gateway cannot hold calls open for answers yet`)

function cleanQuestion(upstream: string, request: unknown): Question {
  const { method, params } = isObject(request) ? request : {}
  const given = isObject(params) ? params : {}
  const accept = (): undefined => undefined
  if (method === 'roots/list') return { method, params: {}, needs: { roots: {} }, accept }
  if (method === 'sampling/createMessage')
    return {
      method,
      // Other servers' conversations are not this upstream's business.
      params: { ...pick(given, samplingMembers), includeContext: 'none' },
      needs: { sampling: given['tools'] === undefined ? {} : { tools: {} } },
      accept,
    }
  if (method !== 'elicitation/create') throw fail(`${upstream} asks a question of an unknown kind`)
  const message = typeof given['message'] === 'string' ? given['message'] : ''
  if (given['mode'] === 'url') {
    const url = safePage(given['url'])
    if (!url) throw fail(`${upstream} asks to open an address that is not a plain https page`)
    return {
      method,
      params: { mode: 'url', message: `${upstream} asks to open a page of ${url.host}: ${message}`, url: url.href },
      needs: { elicitation: { url: {} } },
      accept,
    }
  }
  return {
    method,
    params: {
      mode: 'form',
      message: `${upstream} asks: ${message}`,
      requestedSchema: isObject(given['requestedSchema'])
        ? given['requestedSchema']
        : { type: 'object', properties: {} },
    },
    needs: { elicitation: { form: {} } },
    accept,
  }
}

/** Returns an https address without a user name, which could look like another host. The host is in its ASCII form. */
function safePage(text: unknown): URL | undefined {
  if (typeof text !== 'string' || text.length > 4096 || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined
}

const samplingMembers = [
  ...['messages', 'modelPreferences', 'systemPrompt', 'temperature', 'maxTokens', 'stopSequences', 'tools'],
  'toolChoice',
] as const

const answerMembers: { readonly [method: string]: readonly string[] } = {
  'elicitation/create': ['action', 'content'],
  'sampling/createMessage': ['role', 'content', 'model', 'stopReason'],
  'roots/list': ['roots'],
}

const pick = (from: Params, members: readonly string[]): Params =>
  Object.fromEntries(members.flatMap((member) => (from[member] === undefined ? [] : [[member, from[member]]])))

const isRelayState = (value: unknown): value is RelayState =>
  isObject(value) && isObject(value['asked']) && typeof value['round'] === 'number'
