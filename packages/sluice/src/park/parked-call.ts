/**
 * A call whose work asks while it runs. With the first question it is parked: its record is written, the request is
 * answered with the questions, and the work waits in this process. Any process takes the answers; this one goes on with
 * the work.
 *
 * 1. The questions leave after the record is written, and the outcome leaves after it is written.
 * 2. The work is stopped when the last request that waits for this round ends, when a question stays open longer than
 *    `parkMs`, when a round takes longer than the deadline of its target, and when the record has ended or is gone.
 * 3. The work runs once. A process that ends leaves it in doubt, by the lease that the record names.
 */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { digest } from '../core/digest.ts'
import { bugOf, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Stop } from '../core/stop.ts'
import type { Question } from '../core/target.ts'
import { askAll, createRecordFollower } from '../running-calls/ask.ts'
import { retryEnd } from '../running-calls/endings.ts'
import { outcomeOfAnswer, outcomeOfThrown } from '../running-calls/outcome.ts'
import type { AskedQuestion, RunningCall, RunningCallOutcome } from '../running-calls/record.ts'
import { holdPlace } from '../running-calls/running-calls.ts'
import type { Step } from '../running-calls/transitions.ts'
import { ask as askStep, finish, keyOf } from '../running-calls/transitions.ts'
import type { ParkDeps } from './deps.ts'
import { rememberKey } from './parked-key.ts'
import { createQuestionRounds } from './question-rounds.ts'
import { questionsResult } from './state.ts'
import type { Waiting } from './waiters.ts'
import { createWaiters } from './waiters.ts'

export interface ParkedCall {
  ask(questions: { readonly [name: string]: Question | undefined }): Promise<Params>
  notify(method: string, params: Params): void
  /** Starts to follow the work. Resolves with the answer to the first request: the work's own, or its questions. */
  follow(work: Promise<Answer>): Promise<Answer>
  /** Lets a later request wait for the next questions or the outcome. */
  attach(request: Call): Waiting
  /** Reads the record again, because it may have changed. */
  wake(): void
}

/** How long an outcome can be asked for again. */
const keepMs = 600_000
/** A longer outcome is answered once and not stored, because callers could fill the store with it. */
const maxRecord = 262_144

/** `stop` ends the work. */
export function createParkedCall(deps: ParkDeps, request: Call, stop: Stop): ParkedCall {
  const { calls, runs, lease, clock, logger, seal, parkMs, totalMs, local, running, endings } = deps
  const { target, caller, args } = request
  const tenant = request.tenant.id
  let id = ''
  const waiters = createWaiters((reason) => stop.stop(reason))
  let phase: 'call' | 'parked' | 'over' = 'call'
  let cancelDeadline = (): void => {}
  let releaseAll = (): void => {}

  /** Read through a function: the compiler does not see that it changes while something is awaited. */
  const hasEnded = (): boolean => phase === 'over'
  const change = (step: Step): ReturnType<typeof calls.change> => calls.change(tenant, id, step)
  const rounds = createQuestionRounds(clock, openRound)

  /** Writes the questions of a round, answers the waiting requests with them, and resolves with the answers. */
  async function openRound(questions: { readonly [name: string]: AskedQuestion }): Promise<Params> {
    if (stop.reason) throw stop.reason
    const record = phase === 'call' ? await park(questions) : await askAgain(questions)
    const answers = follower.answersTo(record).then((given) => {
      setDeadline(target.policy.timeoutMs, `Not done within ${target.policy.timeoutMs} ms`)
      return given
    })
    if (stop.reason) return answers
    setDeadline(parkMs, `The question was not answered within ${parkMs} ms`)
    waiters.resolve((call) => questionsResult(call, record, seal, parkMs))
    return answers
  }
  const follower = createRecordFollower(deps, tenant, stop, () => (phase === 'parked' ? id : undefined))

  async function park(questions: { readonly [name: string]: AskedQuestion }): Promise<RunningCall> {
    const release = await holdPlace(deps, tenant, caller.subject)
    id = crypto.randomUUID()
    const now = clock.now()
    const first: RunningCall = {
      ...{ id, tenant, subject: caller.subject, tool: target.name, process: lease.id },
      ...{ definition: definitionHash(target), digest: digest(args) },
      ...{ createdAt: now, changedAt: now, until: now + totalMs, rounds: 1, answers: {} },
      questions: Object.fromEntries(Object.entries(questions).map(([name, asked]) => [keyOf(name, 1), asked])),
    }
    try {
      await calls.create(first)
      await rememberKey(deps, request, id, totalMs)
      // The request or the work may have ended during the writes, and with it the call: nothing would free what it holds.
      if (stop.reason ?? hasEnded()) throw stop.reason ?? new RpcError('cancelled', 'Cancelled')
    } catch (thrown) {
      release()
      // Whatever was written: under its key, a later call would wait for work that does not go on.
      await calls.delete(tenant, id).catch(() => {})
      throw thrown
    }
    phase = 'parked'
    local.set(id, parked)
    const runningId = running.add(stop)
    const unwatch = runs.watch(id, follower.wake)
    const cancelTotal = clock.after(totalMs, () =>
      stop.stop(new RpcError('timeout', `The call did not end within ${totalMs} ms`)),
    )
    releaseAll = () => {
      for (const end of [cancelTotal, unwatch, release]) end()
      running.delete(runningId)
    }
    return first
  }
  async function askAgain(questions: { readonly [name: string]: AskedQuestion }): Promise<RunningCall> {
    const written = await change(askStep(lease.id, questions))
    if (!written?.changed) throw stop.reason ?? new RpcError('cancelled', 'Cancelled')
    runs.announce(id)
    return written.call
  }

  function setDeadline(ms: number, message: string): void {
    cancelDeadline()
    cancelDeadline =
      ms === Number.POSITIVE_INFINITY ? () => {} : clock.after(ms, () => stop.stop(new RpcError('timeout', message)))
  }

  /** Answers the waiting requests. The end of a parked call is written first. */
  async function conclude(end: WorkEnd): Promise<void> {
    const wasParked = phase === 'parked'
    phase = 'over'
    cancelDeadline()
    if (wasParked) {
      // Later requests follow the record, because the ones that wait here are answered once.
      local.delete(id)
      const step = ended(lease.id, outcomeOf(end))
      const leave = (): void => {
        releaseAll()
        runs.announce(id)
      }
      try {
        await change(step)
        leave()
      } catch (thrown) {
        logger.error({ event: 'parkedNotRecorded', tool: target.name, call: id, ...bugOf(thrown) })
        const later = retryEnd(() => change(step), { clock, endings, until: clock.now() + keepMs })
        endings.add(later.then(leave))
      }
    }
    if ('answer' in end) waiters.resolve(() => end.answer)
    else waiters.reject(end.thrown)
  }
  function outcomeOf(end: WorkEnd): RunningCallOutcome {
    try {
      if ('thrown' in end) return outcomeOfThrown(end.thrown, deps.newErrorId()).outcome
      const outcome = outcomeOfAnswer(end.answer)
      return outcome.json.length <= maxRecord ? outcome : notStored
    } catch (thrown) {
      return outcomeOfThrown(thrown, deps.newErrorId()).outcome
    }
  }

  const parked: ParkedCall = {
    ask: (questions) => askAll(waiters.latest() ?? request, questions, rounds.ask),
    notify: (method, params) => waiters.notify(method, params),
    wake: follower.wake,
    attach: (later) => waiters.add(later),
    follow(work) {
      const { answer: first } = waiters.add(request)
      const stopped = new Promise<never>((_, reject) => stop.onStop(reject))
      const ending = Promise.race([work, stopped]).then(
        (answer) => conclude({ answer }),
        (thrown: unknown) => conclude({ thrown: stop.reason ?? thrown }),
      )
      endings.add(ending)
      return first
    },
  }
  return parked
}

/** The process writes how the work ended. The record is kept a while, so that a lost answer can be asked for again. */
const ended =
  (process: string, outcome: RunningCallOutcome): Step =>
  (record, now) => {
    const written = finish(process, outcome)(record, now)
    return written && { ...written, until: now + keepMs }
  }

type WorkEnd = { readonly answer: Answer } | { readonly thrown: unknown }

const notStored: RunningCallOutcome = {
  error: {
    code: -32603,
    message: 'The call ran and was answered, but its result is too long to be answered again',
    data: { reason: 'resultTooLarge' },
  },
}
