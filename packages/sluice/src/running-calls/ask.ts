/**
 * Questions in the middle of the work. They are written into the record, answered through any process, and read back by
 * this one.
 */

import type { Call } from '../core/call.ts'
import { fail, missingCapability, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Stop } from '../core/stop.ts'
import type { Question } from '../core/target.ts'
import { canAnswer } from '../protocol/questions.ts'
import type { AskedQuestion, RunningCall } from './record.ts'
import type { RunningCallDeps } from './running-calls.ts'
import { keyOf } from './transitions.ts'

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
    const missing = open.find(([, question]) => !canAnswer(call.capabilities, question))
    if (missing) throw missingCapability(missing[1].needs)
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

/** Follows the record of a call that this process runs. */
export interface RecordFollower {
  /** Reads the record again, because it may have changed. Stops the work if the record has ended or is gone. */
  wake(): void
  /** Resolves with the answers to a round. Rejects when the work is stopped. */
  answersTo(asked: RunningCall): Promise<Params>
}

/** `current` returns the id of the record; `undefined` while the call has none. */
export function createRecordFollower(
  { calls, lease }: RunningCallDeps,
  tenant: string,
  stop: Stop,
  current: () => string | undefined,
): RecordFollower {
  let found: ((record: RunningCall) => void) | undefined
  async function look(): Promise<void> {
    const record = await calls.read(tenant, current() ?? '')
    if (current() === undefined) return
    if (!record || record.outcome || record.process !== lease.id) stop.stop(new RpcError('cancelled', 'Cancelled'))
    else found?.(record)
  }
  return {
    wake() {
      look().catch(() => {
        // The next look finds it.
      })
    },
    answersTo: ({ rounds, questions }) =>
      new Promise((resolve, reject) => {
        const unlisten = stop.onStop(reject)
        const keys = Object.keys(questions)
        found = (record) => {
          if (record.rounds !== rounds || !keys.every((key) => Object.hasOwn(record.answers, key))) return
          found = undefined
          unlisten()
          resolve(record.answers)
        }
      }),
  }
}
