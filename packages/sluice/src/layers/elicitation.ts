/**
 * Asks until every question is answered. `run` is reached once, with every answer checked. The answers so far travel in
 * sealed `requestState`, bound to this caller, tool and arguments, so any process can take the next round.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

import type { Answer, Result } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import type { Era } from '../core/error.ts'
import { fail, invalidParams, missingCapability } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Seal } from '../core/seal.ts'
import type { Key } from '../core/store.ts'
import type { Question, Questions, Ready } from '../core/target.ts'
import { canAnswer } from '../protocol/questions.ts'
import type { Features } from '../protocol/revisions.ts'
import { featuresOf } from '../protocol/revisions.ts'

/** How long a person may take to answer. */
const answerTtlMs = 10 * 60_000

export const elicitationLayer =
  (seal: Seal): Layer =>
  (next) => {
    // Most tools ask nothing, so they pass without an extra promise.
    return (call) => (call.ready?.ask ? gather(call, call.ready.ask) : next(call))

    async function gather(call: Call, pending: NonNullable<Ready['ask']>): Promise<Answer> {
      const bound = callBinding(call)
      // The run of a task has its answers already; the state that brought them may have expired.
      const previous = call.task?.answers ?? (await stateOf(call, seal, bound))
      const replies = repliesOf(call)
      let answers = previous
      let questions = await pending(answers, call)
      for (const [key, question] of Object.entries(questions)) {
        if (Object.hasOwn(answers, key) || !Object.hasOwn(replies, key)) continue
        const accepted = question.accept(replies[key])
        if (!accepted) continue
        if ('declined' in accepted)
          throw fail(accepted.declined === 'cancel' ? 'The person cancelled.' : 'The person declined.')
        // An opened page is not finished: the question stays until the tool no longer asks it. A refusal (`optional`)
        // is an answer.
        if (question.visit && accepted.value !== null) continue
        answers = { ...answers, [key]: accepted.value }
      }
      if (answers !== previous) questions = await pending(answers, call)
      const open = Object.entries(questions).filter(([key]) => !Object.hasOwn(answers, key))
      if (open.length === 0) return next({ ...call, answers })
      refuseUnsupported(
        open.map(([, question]) => question),
        call,
      )
      const { era } = featuresOf(call.revision)
      return inputRequired(Object.fromEntries(open), await seal.seal({ given: answers }, bound, answerTtlMs), era)
    }
  }

const inputRequired = (questions: Questions, requestState: string, era: Era): Result => ({
  resultType: 'input_required',
  inputRequests: Object.fromEntries(
    Object.entries(questions).map(([key, { method, params }]) => [
      key,
      { method, params: era === 'modern' ? withoutElicitationId(params) : params },
    ]),
  ),
  requestState,
})

/** Removes the id, which pages have on 2025-11-25 only. */
const withoutElicitationId = ({ elicitationId: _, ...params }: Params): Params => params

async function stateOf({ params }: Call, seal: Seal, bound: Key): Promise<Params> {
  const sealed = params['requestState']
  if (sealed === undefined) return {}
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const state = await seal.open(sealed, bound)
  return isObject(state) && isObject(state['given']) ? state['given'] : {}
}

function repliesOf({ params }: Call): Params {
  const replies = params['inputResponses'] ?? {}
  if (!isObject(replies)) throw invalidParams('inputResponses must be an object')
  return replies
}

/** Refuses questions that the client did not declare. The refusal names every missing capability. */
function refuseUnsupported(questions: readonly Question[], call: Call): void {
  const features = featuresOf(call.revision)
  const unaskable = questions.filter(
    (question) => !revisionHas(question, features) || !canAnswer(call.capabilities, question),
  )
  const [first] = unaskable
  if (!first) return
  const requiredCapabilities = unaskable.reduce<Params>((needs, question) => merge(needs, question.needs), {})
  if (features.inputRequired) throw missingCapability(requiredCapabilities)
  const { message, url } = first.params
  const names = Object.keys(requiredCapabilities).join(', ')
  throw fail(
    isUrlMode(first)
      ? `${String(message)}: ${String(url)}`
      : `This client cannot be asked: it did not declare ${names}`,
  )
}

const isUrlMode = ({ params }: Question): boolean => params['mode'] === 'url'

const revisionHas = (question: Question, { elicitation }: Features): boolean =>
  question.method !== 'elicitation/create' || elicitation === 'url' || (elicitation === 'form' && !isUrlMode(question))

/** Merges two levels, because capabilities are no deeper. */
const merge = (a: Params, b: Params): Params => {
  const merged: { [key: string]: unknown } = { ...a }
  for (const [key, value] of Object.entries(b))
    merged[key] = { ...(isObject(a[key]) && a[key]), ...(isObject(value) && value) }
  return merged
}
