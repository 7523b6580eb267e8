/**
 * Questions of an upstream that need the call to stay alive: a server before 2026-07-28 asks in the middle of its work,
 * and a call with an idempotency key or an approval cannot begin again. The call is parked, or is a task, while its
 * client is asked.
 */

import type { QuestionContext, QuestionHandlers } from '../client/questions.ts'
import { maxOpenQuestions } from '../client/session.ts'
import type { Call } from '../core/call.ts'
import { fail } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Question } from '../core/target.ts'
import { assertAskable } from '../layers/elicitation.ts'
import type { RecordQuestion } from './question-log.ts'
import type { RelayDeps, RelayRequest } from './relay.ts'
import {
  answerMembers,
  asksForEver,
  assertFewQuestions,
  cleanQuestion,
  maxRounds,
  pick,
  readQuestions,
  refuseToPark,
  safeKey,
} from './relay-questions.ts'

type AskClient = (questions: { readonly [name: string]: Question }) => Promise<Params>

type Questionable = Pick<RelayRequest, 'relaysQuestions'>

const askerOf = (call: Call): AskClient | undefined => call.task?.ask ?? call.park?.ask

export const wasApproved = (call: Call): boolean => call.ticketId !== undefined || call.facts['grant'] !== undefined

type QuestionDeps = Pick<RelayDeps, 'name' | 'roots' | 'record'>

/**
 * Returns how the questions of one call are answered; `undefined` if the call cannot wait for answers. `connection` is
 * the client that the call uses, which other callers may share.
 */
export function parkedQuestions(
  call: Call,
  request: Questionable,
  deps: QuestionDeps,
  connection: object,
): ParkedQuestions | undefined {
  const ask = askerOf(call)
  return ask && new ParkedQuestions(call, request, deps, ask, connection)
}

/** Half of what a connection holds, so that one caller cannot take all of it from the others. */
const maxPerCaller = maxOpenQuestions / 2
/** The open questions of each caller, by connection. */
const openByCaller = new WeakMap<object, Map<string, number>>()

const callerOf = ({ tenant, caller }: Call): string => JSON.stringify([tenant.id, caller.subject])

const openOf = (connection: object, call: Call): number => openByCaller.get(connection)?.get(callerOf(call)) ?? 0

function addOpen(connection: object, call: Call, change: 1 | -1): void {
  const callers = openByCaller.get(connection) ?? new Map<string, number>()
  openByCaller.set(connection, callers)
  const open = openOf(connection, call) + change
  if (open > 0) callers.set(callerOf(call), open)
  else callers.delete(callerOf(call))
}

/** How many calls that a person approved are in flight on each connection. */
const approvedOn = new WeakMap<object, number>()

/** Marks a connection while an approved call uses it beside others. The returned function must be called once. */
export function beginApproved(connection: object): () => void {
  const change = (by: 1 | -1): unknown => approvedOn.set(connection, (approvedOn.get(connection) ?? 0) + by)
  change(1)
  return () => change(-1)
}

/** The questions of one call. A class, because few calls are asked, and closures would be made for each. */
export class ParkedQuestions implements QuestionHandlers {
  readonly #call: Call
  readonly #request: Questionable
  readonly #deps: QuestionDeps
  readonly #ask: AskClient
  readonly #connection: object
  /** Why a question was refused: it is invalid or one too many, or the client did not declare what it needs. */
  refusal: unknown = undefined
  #open = 0
  #rounds = 0
  constructor(call: Call, request: Questionable, deps: QuestionDeps, ask: AskClient, connection: object) {
    this.#call = call
    this.#request = request
    this.#deps = deps
    this.#ask = ask
    this.#connection = connection
  }
  form(params: Params, context: QuestionContext): Promise<Params> {
    return this.#handle('elicitation/create', params, context)
  }
  url(params: Params, context: QuestionContext): Promise<Params> {
    return this.#handle('elicitation/create', params, context)
  }
  sampling(params: Params, context: QuestionContext): Promise<Params> {
    return this.#handle('sampling/createMessage', params, context)
  }
  roots(params: Params, context: QuestionContext): Params | Promise<Params> {
    return this.#deps.roots?.(params, context) ?? this.#handle('roots/list', params, context)
  }
  async #handle(method: string, params: Params, { attribution }: QuestionContext): Promise<Params> {
    const { name: upstream, record } = this.#deps
    // A question that names no call may be one of an approved call, which another caller must not answer.
    const isUncertain = attribution === 'oldest call' && (approvedOn.get(this.#connection) ?? 0) > 0
    if (isUncertain || (wasApproved(this.#call) && !this.#request.relaysQuestions)) return declined(upstream, method)
    const question = this.#accept(method, params)
    // Questions that are open together are one round.
    if (this.#open++ === 0) this.#rounds++
    addOpen(this.#connection, this.#call, 1)
    try {
      // A question before 2026-07-28 has no key.
      const name = method.split('/')[0] ?? ''
      const answered = await record(this.#call, question, attribution)
      const { [name]: answer } = await this.#ask({ [name]: question })
      const picked = pick(isObject(answer) ? answer : {}, answerMembers[method] ?? [])
      await answered(picked)
      return picked
    } finally {
      this.#open--
      addOpen(this.#connection, this.#call, -1)
    }
  }
  #accept(method: string, params: Params): Question {
    const { name: upstream } = this.#deps
    try {
      if (this.#open === 0 && this.#rounds >= maxRounds) throw asksForEver(upstream)
      assertFewQuestions(upstream, this.#open + 1, params)
      if (openOf(this.#connection, this.#call) >= maxPerCaller)
        throw fail(`Answer the open questions of ${upstream} first: ${maxPerCaller} of yours wait already`)
      const question = cleanQuestion(upstream, { method, params })
      assertAskable([question], this.#call)
      return question
    } catch (thrown) {
      this.refusal ??= thrown
      throw thrown
    }
  }
}

/** A person who approved the arguments did not approve what is answered afterwards. */
function declined(upstream: string, method: string): Params {
  if (method === 'elicitation/create') return { action: 'decline' }
  throw fail(`${upstream} asked during a call that needed an approval, and its questions are declined`)
}

interface AskedRound {
  readonly upstream: string
  readonly result: Params
  readonly round: number
  readonly record: RecordQuestion
}

/** Asks the client the questions of an `input_required` result. Returns what to add to the repeated request. */
export async function askClient(
  call: Call,
  { relaysQuestions }: Questionable,
  { upstream, result, round, record }: AskedRound,
): Promise<Params> {
  const ask = askerOf(call)
  if (!ask) throw refuseToPark(upstream)
  if (round >= maxRounds) throw asksForEver(upstream)
  const { questions, requestState } = readQuestions(upstream, result)
  const inputResponses: { [key: string]: Params } = {}
  if (wasApproved(call) && !relaysQuestions)
    for (const [key, { method }] of questions) inputResponses[key] = declined(upstream, method)
  else {
    const named = questions.map(([key, question]) => [safeKey(upstream, key), question] as const)
    const recorded = await Promise.all(questions.map(([, question]) => record(call, question)))
    const answers = await ask(Object.fromEntries(named))
    for (const [index, [key, { method }]] of questions.entries()) {
      const answer = answers[safeKey(upstream, key)]
      const picked = pick(isObject(answer) ? answer : {}, answerMembers[method] ?? [])
      await recorded[index]?.(picked)
      inputResponses[key] = picked
    }
  }
  return { inputResponses, ...(requestState !== undefined && { requestState }) }
}
