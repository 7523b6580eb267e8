/** What the store holds of a call that outlives its request: its owner, its questions and answers, and its outcome. */

import type { Result } from '../core/answer.ts'
import type { WireError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'

export interface RunningCall {
  readonly id: string
  readonly tenant: string
  readonly subject: string
  readonly tool: string
  /** The tool's definition hash and the digest of the arguments, of a parked call: a repeated call must have the same. */
  readonly definition?: string
  readonly digest?: string
  readonly createdAt: number
  readonly changedAt: number
  /** After this time the record is gone. */
  readonly until: number
  /** The process that runs the call. `undefined` while the call waits for a decision. */
  readonly process?: string | undefined
  /** What a process needs to run the call once it is decided. */
  readonly waits?: WaitingCall | undefined
  readonly message?: string | undefined
  /** How many rounds of questions there were. A key names its round, so that no key is used twice. */
  readonly rounds: number
  /** Not answered yet. */
  readonly questions: { readonly [key: string]: AskedQuestion }
  /** Answered, and not yet read by the process that asked. */
  readonly answers: Params
  readonly outcome?: RunningCallOutcome
}

export interface AskedQuestion {
  readonly method: string
  readonly params: Params
}

export interface WaitingCall {
  readonly ticket: string
  readonly args: unknown
  /** The person's answers to the tool's questions. */
  readonly answers: Params
}

/** How the call ended. It never changes. */
export type RunningCallOutcome =
  | { readonly result: Result }
  | { readonly error: WireError }
  /** On request of its caller. */
  | { readonly cancelled: true }

/** The result of work that has just ended. Its text is made once, because a result may be long. */
export class WrittenResult {
  readonly json: string
  /** Throws if the result is not JSON. */
  constructor(result: Result) {
    this.json = JSON.stringify(result)
  }
  /** The result as it is read back. */
  get result(): Result {
    return JSON.parse(this.json) as Result
  }
}

export function runningCallToText(call: RunningCall): string {
  const { outcome } = call
  if (!(outcome instanceof WrittenResult)) return JSON.stringify(call)
  return `${JSON.stringify({ ...call, outcome: undefined }).slice(0, -1)},"outcome":{"result":${outcome.json}}}`
}

export type CallStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

export function statusOf({ outcome, questions }: RunningCall): CallStatus {
  if (!outcome) return Object.keys(questions).length > 0 ? 'input_required' : 'working'
  if ('result' in outcome) return 'completed'
  return 'error' in outcome ? 'failed' : 'cancelled'
}

/** Throws on a value of another shape: a record that cannot be read must not count as none. */
export function parseRunningCall(text: string): RunningCall {
  const call: unknown = JSON.parse(text)
  if (!isRunningCall(call)) throw new TypeError('The record of a running call cannot be read')
  return call
}

const isRunningCall = (value: unknown): value is RunningCall =>
  isObject(value) && typeof value['id'] === 'string' && isObject(value['questions'])
