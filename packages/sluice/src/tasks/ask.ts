/** Questions in the middle of the work: written into the record, answered through any process, read back by this one. */

import type { Call } from '../core/call.ts'
import { fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Question } from '../core/target.ts'
import { canAnswer } from '../protocol/questions.ts'
import type { AskedQuestion } from '../running-calls/record.ts'
import { keyOf } from '../running-calls/transitions.ts'

/** Writes a round of questions. Resolves with its number and the answers, by key, once all are given. */
export type AskRound = (questions: {
  readonly [name: string]: AskedQuestion
}) => Promise<{ readonly round: number; readonly answers: Params }>

/** A question that is asked only sometimes is `undefined` otherwise. */
type MaybeQuestions = { readonly [name: string]: Question | undefined }

/** An answer of the wrong shape is asked for again, under another key. */
const maxRounds = 10

export async function askAll(call: Call, questions: MaybeQuestions, askRound: AskRound): Promise<Params> {
  const given: { [name: string]: unknown } = {}
  let open = Object.entries(questions).filter((entry): entry is [string, Question] => entry[1] !== undefined)
  for (let rounds = 0; open.length > 0; rounds++) {
    if (rounds >= maxRounds) throw fail('The questions were not answered in a form that can be used.')
    refuseUnsupported(call, open)
    const { round, answers } = await askRound(
      Object.fromEntries(open.map(([name, question]) => [name, toAsked(question)])),
    )
    open = open.filter(([name, question]) => {
      const accepted = question.accept(answers[keyOf(name, round)])
      if (!accepted) return true
      if ('declined' in accepted)
        throw fail(accepted.declined === 'cancel' ? 'The person cancelled.' : 'The person declined.')
      given[name] = accepted.value
      return false
    })
  }
  return given
}

/** Only 2025-11-25 names pages. */
function toAsked({ method, params: { elicitationId: _, ...params } }: Question): AskedQuestion {
  return { method, params }
}

function refuseUnsupported({ capabilities }: Call, open: readonly [string, Question][]): void {
  const missing = open.find(([, question]) => !canAnswer(capabilities, question))
  if (missing)
    throw new RpcError('missingCapability', 'This needs a client capability that was not declared', {
      data: { requiredCapabilities: missing[1].needs },
    })
}
