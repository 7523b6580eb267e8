/** The steps of a running call, as functions of its record. Each returns `undefined` if it changes nothing. */

import type { Params } from '../core/json.ts'
import type { AskedQuestion, RunningCall, RunningCallOutcome } from './record.ts'

export type Step = (call: RunningCall, now: number) => RunningCall | undefined

const isRunBy = (call: RunningCall, process: string): boolean => !call.outcome && call.process === process

/** A process takes over a call that waited for a decision. Of several processes one does. */
export const claim =
  (process: string, keepMs: number): Step =>
  (call, now) =>
    call.outcome || call.process !== undefined
      ? undefined
      : { ...call, process, changedAt: now, until: Math.max(call.until, now + keepMs), message: 'Running' }

/** The process that claimed the call lets go of it before anything ran. */
export const unclaim =
  (process: string): Step =>
  (call, now) => {
    if (!isRunBy(call, process)) return undefined
    const { process: _, ...rest } = call
    return { ...rest, changedAt: now }
  }

/** The process asks. Questions of an earlier round that are still open are superseded. */
export const ask =
  (process: string, questions: { readonly [name: string]: AskedQuestion }): Step =>
  (call, now) => {
    if (!isRunBy(call, process)) return undefined
    const rounds = call.rounds + 1
    const keyed = Object.fromEntries(
      Object.entries(questions).map(([name, question]) => [keyOf(name, rounds), question]),
    )
    return { ...call, rounds, questions: keyed, answers: {}, changedAt: now }
  }

/** A key is unique for the life of the call: a client may take a key with another question for an attack. */
export const keyOf = (name: string, round: number): string => `${name}.${round}`

/** The caller answers. Keys that are not asked, or are answered already, are ignored, and so are their values. */
export const answer =
  (responses: Params): Step =>
  (call, now) => {
    if (call.outcome) return undefined
    const given = Object.entries(responses).filter(([key]) => Object.hasOwn(call.questions, key))
    if (given.length === 0) return undefined
    const taken = new Set(given.map(([key]) => key))
    const questions = Object.fromEntries(Object.entries(call.questions).filter(([key]) => !taken.has(key)))
    return { ...call, questions, answers: { ...call.answers, ...Object.fromEntries(given) }, changedAt: now }
  }

/** What the work says about itself. */
export const report =
  (process: string, message: string): Step =>
  (call, now) =>
    isRunBy(call, process) && call.message !== message ? { ...call, message, changedAt: now } : undefined

/** The process writes how the work ended, or any other one does that has found that `process` is gone. */
export const finish =
  (process: string, outcome: RunningCallOutcome, message?: string): Step =>
  (call, now) =>
    isRunBy(call, process) ? ended(call, outcome, now, message) : undefined

/** The caller cancels. The process that runs the call hears of it and stops the work. */
export const cancel: Step = (call, now) => (call.outcome ? undefined : ended(call, { cancelled: true }, now))

function ended(call: RunningCall, outcome: RunningCallOutcome, now: number, message?: string): RunningCall {
  return {
    ...call,
    waits: undefined,
    questions: {},
    answers: {},
    outcome,
    changedAt: now,
    message: message ?? call.message,
  }
}
