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
import { acceptForm, acceptRoots, acceptSample } from './accept-answer.ts'
import { assertOpened, isPages } from './required-pages.ts'

/** How long a person may take to answer. */
const answerTtlMs = 10 * 60_000
export const maxRounds = 10
/** Rounds in which an upstream may repeat the same questions. */
const maxRepeats = 3
const maxQuestions = 16
const maxStateLength = 64 * 1024
const maxQuestionLength = 256 * 1024
/** Characters of a reason that may quote the upstream. */
const maxReasonLength = 300

interface RelayState {
  readonly state?: string
  /** The questions that were asked: the upstream's keys, and their methods. */
  readonly asked: { readonly [key: string]: string }
  /** The schemas of the forms among them, by which the answers are checked. */
  readonly schemas?: { readonly [key: string]: Params }
  readonly round: number
  readonly repeats: number
  readonly digest: string
  /** The questions are pages that must be opened before the upstream takes the call. It gets no answers. */
  readonly arePages?: true
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

/** Returns the capabilities to declare upstream: the client's, as far as its questions can be relayed or parked. */
export function relayedCapabilities(call: Call, canPark: boolean): Params {
  const { elicitation, sampling, roots } = call.capabilities
  if (elicitation === undefined && sampling === undefined && roots === undefined) return empty
  if (!canPark && !mayRelayQuestions(call)) return empty
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots: {} }),
  }
}

/** Reads the client's answers to relayed questions. Only questions that were asked, and only their known members. */
export async function readAnswers(call: Call, upstream: string, seal: Seal): Promise<RelayedAnswers> {
  const { requestState: sealed, inputResponses } = call.params
  if (!mayRelayQuestions(call)) return firstRound
  if (sealed === undefined)
    return isObject(inputResponses) ? { ...firstRound, params: ahead(inputResponses) } : firstRound
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const opened = await seal.open(sealed, [upstream, ...callBinding(call)])
  if (!isRelayState(opened)) return firstRound
  const given = call.params['inputResponses'] ?? {}
  if (!isObject(given)) throw invalidParams('inputResponses must be an object')
  if (opened.arePages) {
    assertOpened(upstream, Object.fromEntries(Object.keys(opened.asked).map((key) => [key, given[key]])))
    return { params: {}, state: opened }
  }
  const answers = Object.entries(opened.asked).flatMap(([key, method]) => {
    const answer = given[safeKey(upstream, key)]
    if (!isObject(answer)) return []
    const accepted = acceptOf(method, opened.schemas?.[key])(answer)
    if (!accepted || !('value' in accepted) || !isObject(accepted.value))
      throw invalidParams(`the answer to "${safeKey(upstream, key)}" does not fit its question`)
    return [[key, pick(accepted.value, answerMembers[method] ?? [])] as const]
  })
  return {
    params: {
      inputResponses: Object.fromEntries(answers),
      ...(opened.state !== undefined && { requestState: opened.state }),
    },
    state: opened,
  }
}

/** Answers that a client sends before it was asked. The upstream decides whether they fit its questions. */
const ahead = (responses: Params): Params => ({
  inputResponses: Object.fromEntries(
    Object.entries(responses).flatMap(([key, answer]) =>
      isObject(answer) ? [[key, pick(answer, Object.values(answerMembers).flat())]] : [],
    ),
  ),
})

/** Returns the upstream's questions as ours, or refuses them. */
export async function relayQuestions(
  call: Call,
  upstream: string,
  result: Params,
  previous: RelayState | undefined,
  seal: Seal,
): Promise<Result> {
  const { questions, requestState, inputRequests } = readQuestions(upstream, result)
  assertAskable(
    questions.map(([, question]) => question),
    call,
  )
  const asked = digest(JSON.parse(JSON.stringify(inputRequests)))
  const round = (previous?.round ?? 0) + 1
  const repeats = previous?.digest === asked ? previous.repeats + 1 : 0
  if (round > maxRounds || repeats >= maxRepeats) throw asksForEver(upstream)
  const state: RelayState = {
    ...(requestState !== undefined && { state: requestState }),
    asked: Object.fromEntries(questions.map(([key, { method }]) => [key, method])),
    schemas: Object.fromEntries(questions.flatMap(([key, { params }]) => schemaOf(key, params))),
    ...{ round, repeats, digest: asked },
    ...(isPages(result) && { arePages: true }),
  }
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(
      questions.map(([key, { method, params }]) => [safeKey(upstream, key), { method, params }]),
    ),
    requestState: await seal.seal(state, [upstream, ...callBinding(call)], answerTtlMs),
  }
}

const schemaOf = (key: string, { requestedSchema: schema }: Params): readonly (readonly [string, Params])[] =>
  isObject(schema) ? [[key, schema]] : []

function acceptOf(method: string, schema: Params | undefined): Question['accept'] {
  if (method === 'elicitation/create') return acceptForm(schema)
  return method === 'roots/list' ? acceptRoots : acceptSample
}

/** Returns the key of a question for the client. Keys with a prefix could pose as ours, so they get the upstream's name. */
export const safeKey = (upstream: string, key: string): string => (/^[\w.-]+$/.test(key) ? key : `${upstream}/${key}`)

/** Reads the questions of an `input_required` result. Throws if they are too many, too long or not allowed. */
export function readQuestions(
  upstream: string,
  { inputRequests = {}, requestState }: Params,
): {
  readonly questions: readonly (readonly [key: string, question: Question])[]
  readonly requestState: string | undefined
  readonly inputRequests: Params
} {
  if (requestState !== undefined && (typeof requestState !== 'string' || requestState.length > maxStateLength))
    throw fail(`${upstream} sent a state that is longer than ${maxStateLength} characters`)
  if (!isObject(inputRequests)) throw fail(`${upstream} sent questions that cannot be read`)
  const entries = Object.entries(inputRequests)
  assertFewQuestions(upstream, entries.length, inputRequests)
  const questions = entries.map(([key, request]) => [key.slice(0, 128), cleanQuestion(upstream, request)] as const)
  return { questions, requestState, inputRequests }
}

/** Throws if an upstream asks too many questions at once, or too long ones: they are kept while the client is asked. */
export function assertFewQuestions(upstream: string, count: number, asked: Params): void {
  if (count > maxQuestions || JSON.stringify(asked).length > maxQuestionLength)
    throw fail(`${upstream} asks too much at once`)
}

export const asksForEver = (upstream: string): Error => fail(`${upstream} asks again and again; the call was given up`)

/** Answers with the roots of the configuration; `undefined` if there are none. */
export const rootsHandler = (roots: readonly string[] | undefined): QuestionHandlers['roots'] =>
  roots && (() => ({ roots: roots.map((uri) => ({ uri })) }))

/** Answers questions that an upstream before 2026-07-28 asks outside a call, or during one that cannot be parked. */
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
    roots: rootsHandler(roots) ?? refuse,
  }
}

export const refuseToPark = (upstream: string): ReturnType<typeof fail> =>
  fail(`${upstream} asks a question, and this call cannot wait for its answer: add park() to "use"`)

/** Returns a question of an upstream as a client may see it: named, bounded, without reach into other conversations. */
export function cleanQuestion(upstream: string, request: unknown): Question {
  const { method, params } = isObject(request) ? request : {}
  const given = isObject(params) ? params : {}
  if (method === 'roots/list') return { method, params: {}, needs: { roots: {} }, accept: acceptRoots }
  if (method === 'sampling/createMessage')
    return {
      method,
      // Other servers' conversations are not this upstream's business.
      params: { ...pick(given, samplingMembers), includeContext: 'none' },
      needs: { sampling: given['tools'] === undefined ? {} : { tools: {} } },
      accept: acceptSample,
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
      accept: acceptForm(undefined),
    }
  }
  const requestedSchema = given['requestedSchema'] ?? { type: 'object', properties: {} }
  return {
    method,
    params: {
      mode: 'form',
      message: `${upstream} asks: ${message}`,
      requestedSchema,
    },
    needs: { elicitation: { form: {} } },
    accept: acceptFormOf(upstream, requestedSchema),
  }
}

/** Refuses an invalid schema, because no client could draw the form, and no answer could be checked. */
function acceptFormOf(upstream: string, schema: unknown): Question['accept'] {
  const invalid = (reason: string): Error =>
    fail(`${upstream} asks with a form whose schema is invalid: ${reason.slice(0, maxReasonLength)}`)
  if (!isObject(schema)) throw invalid('it must be an object')
  try {
    return acceptForm(schema)
  } catch (thrown) {
    throw invalid(thrown instanceof Error ? thrown.message : 'it cannot be read')
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

export const answerMembers: { readonly [method: string]: readonly string[] } = {
  'elicitation/create': ['action', 'content'],
  'sampling/createMessage': ['role', 'content', 'model', 'stopReason'],
  'roots/list': ['roots'],
}

export const pick = (from: Params, members: readonly string[]): Params =>
  Object.fromEntries(members.flatMap((member) => (from[member] === undefined ? [] : [[member, from[member]]])))

const isRelayState = (value: unknown): value is RelayState =>
  isObject(value) && isObject(value['asked']) && typeof value['round'] === 'number'
