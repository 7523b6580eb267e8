/**
 * Asks a caller who has not signed in, before the call reaches the other layers. So an approval or an idempotency key is
 * not spent on a call that cannot run, and the code is not part of what is approved.
 *
 * A client that has pages and forms gets both in one round: the page to open, and the field for its code.
 */

import type { Answer } from '../../core/answer.ts'
import type { Call, Handler } from '../../core/call.ts'
import { callBinding } from '../../core/call-binding.ts'
import { fail, RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { createSeal } from '../../core/seal.ts'
import type { Question } from '../../core/target.ts'
import { canAnswer, url as link, visit } from '../../protocol/questions.ts'
import { featuresOf } from '../../protocol/revisions.ts'
import { acceptForm } from '../accept-answer.ts'
import { personOf } from '../scope.ts'
import { signInMissing } from '../upstream-error.ts'
import type { AuthContext, Person, PersonSignIns } from './types.ts'

export interface QuestionDeps extends AuthContext {
  isReady(person: Person): Promise<boolean>
  isHeld(person: Person): Promise<boolean>
  readonly signIns: PersonSignIns
}

/** How long a person may take to answer. */
const answerTtlMs = 15 * 60_000
const pageKey = 'sign-in'
/** Other methods have no questions in the protocol. */
const asking = new Set(['tools/call', 'prompts/get', 'resources/read'])
const codeKey = 'sign-in-code'

export function createSignInQuestions(deps: QuestionDeps): (call: Call, next: Handler) => Promise<Answer> {
  const { upstream, secrets, clock, signIns } = deps
  const seal = createSeal(secrets, `sign-in round ${upstream}`, clock)
  const boundTo = (call: Call): readonly string[] => ['sign-in', upstream, ...callBinding(call)]

  return async function admit(call, next) {
    const person = personOf(call, upstream)
    const { requestState } = call.params
    const isOurs =
      typeof requestState === 'string' &&
      (await seal.open(requestState, boundTo(call)).then(
        () => true,
        () => false,
      ))
    const inner = isOurs ? withoutRound(call) : call
    if (await deps.isReady(person)) return next(inner)
    // A later round of another question. The upstream's refusal says what is missing.
    if (requestState !== undefined && !isOurs) return next(call)
    if (!asking.has(call.method)) throw signInMissing(upstream).cause
    const problem = isOurs ? await submit(call, person) : undefined
    if (isOurs && problem === undefined && (await deps.isReady(person))) return next(inner)
    return ask(call, person, problem)
  }

  /** Takes the code of this round. Returns what is wrong with it. */
  async function submit({ params }: Call, person: Person): Promise<string | undefined> {
    const answers = isObject(params['inputResponses']) ? params['inputResponses'] : {}
    for (const answer of [answers[pageKey], answers[codeKey]])
      if (isObject(answer) && (answer['action'] === 'decline' || answer['action'] === 'cancel'))
        throw fail(`The person did not sign in to ${upstream}. The call did not run.`)
    const given = answers[codeKey]
    const content = isObject(given) ? given['content'] : undefined
    const code = isObject(content) ? content['code'] : undefined
    if (typeof code !== 'string') return undefined
    try {
      await signIns.confirm(person, code)
      return undefined
    } catch (thrown) {
      if (thrown instanceof RpcError && thrown.reason === 'invalidParams') return thrown.message
      throw thrown
    }
  }

  async function ask(call: Call, person: Person, problem: string | undefined): Promise<Answer> {
    const isHeld = await deps.isHeld(person)
    const prefix = problem === undefined ? '' : `${problem}. `
    const form = codeForm(`${prefix}Type the code that the page of ${upstream} shows after the sign-in`)
    const hasForms = canAnswer(call.capabilities, form)
    if (isHeld && hasForms) return inputRequired(call, { [codeKey]: form })
    const url = await signIns.start(person)
    const message = `${prefix}Sign in to ${upstream} at ${new URL(url).host}`
    const page = hasForms ? link(message, url) : visit(message, url, `sign-in-${upstream}`)
    const isPageKnown = canAnswer(call.capabilities, page) && featuresOf(call.revision).elicitation === 'url'
    if (!isPageKnown)
      throw fail(
        `${message}. The person must open ${url} and then give you the code on the page. Pass it to the tool "sign_in" of ${upstream}, or let the person type it into the console; then call again.`,
      )
    return inputRequired(call, { [pageKey]: page, ...(hasForms && { [codeKey]: form }) })
  }

  async function inputRequired(call: Call, questions: { readonly [key: string]: Question }): Promise<Answer> {
    const { era } = featuresOf(call.revision)
    const requests = Object.entries(questions).map(([key, { method, params }]) => {
      const { elicitationId: _, ...rest }: Params = params
      return [key, { method, params: era === 'modern' ? rest : params }]
    })
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(requests),
      requestState: await seal.seal({}, boundTo(call), answerTtlMs),
    }
  }
}

const withoutRound = (call: Call): Call => {
  const { requestState: _, inputResponses: _1, ...params } = call.params
  return { ...call, params }
}

function codeForm(message: string): Question {
  const requestedSchema = {
    type: 'object',
    properties: { code: { type: 'string', title: 'Code', minLength: 8, maxLength: 16 } },
    required: ['code'],
  }
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    needs: { elicitation: { form: {} } },
    accept: acceptForm(requestedSchema),
  }
}
