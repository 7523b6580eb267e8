/**
 * One call on its way to becoming a task, or the run of a task that waited for a decision. Until it is a task it belongs
 * to its request: it ends with the request, and its answer is the request's. From then on it belongs to its record.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Handler } from '../core/call.ts'
import { callAsync } from '../core/call.ts'
import type { CallTask } from '../core/call-task.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { createStop } from '../core/stop.ts'
import type { Target } from '../core/target.ts'
import type { AskRound } from '../running-calls/ask.ts'
import { askAll, createRecordFollower } from '../running-calls/ask.ts'
import { retryEnd } from '../running-calls/endings.ts'
import { outcomeOfAnswer, outcomeOfThrown } from '../running-calls/outcome.ts'
import type { RunningCall, WaitingCall } from '../running-calls/record.ts'
import type { ChangedCall, StoredCall } from '../running-calls/running-call-store.ts'
import { holdPlace } from '../running-calls/running-calls.ts'
import type { Step } from '../running-calls/transitions.ts'
import { ask as askStep, finish, report, unclaim } from '../running-calls/transitions.ts'
import type { InstalledTasks } from './deps.ts'
import { createTaskResult } from './wire.ts'

/** How long a call waits for its result before it becomes a task. */
const defaultAfterMs = 2_000

export const isTaskTool = ({ task }: Target): boolean => task === 'auto' || task === 'always'

/** How long a progress message waits for the next one. */
const reportMs = 1_000
const maxMessage = 1_000

/** Thrown by the run of a waiting task whose ticket turns out to be undecided: nothing ran, and it waits on. */
const stillPending = /* @__PURE__ */ new RpcError('conflict', 'The approval is still pending')

export interface ClaimedTask {
  readonly record: RunningCall
  /** Frees what the task occupies in this process. */
  release(): void
}

/**
 * Runs a call that may become a task. Resolves with the answer to the request: the work's own, or a task. `waiting` is
 * the task that waited for a decision: its record alone says how it ends.
 */
export function runAsTask(deps: InstalledTasks, request: Call, work: Handler, waiting?: ClaimedTask): Promise<Answer> {
  const { calls, runs, lease, clock, logger, host, ttlMs, intervals, endings } = deps
  const { target, caller, args } = request
  const tenant = request.tenant.id
  const id = waiting?.record.id ?? crypto.randomUUID()
  const stop = createStop()
  const clientToken = request.meta['progressToken']
  /** How the work ended. */
  const settled = Promise.withResolvers<Answer>()
  const answered = Promise.withResolvers<Answer>()
  let phase: 'call' | 'task' | 'over' = 'call'
  let becoming: Promise<void> | undefined
  let message: string | undefined
  let cancelReport: (() => void) | undefined
  let cancelStart = (): void => {}
  let cancelDeadline = (): void => {}
  let lastAsk: Promise<unknown> | undefined
  /** The record as this process wrote it last. Steps on it need no read; the store refuses them if it has changed. */
  let stored: StoredCall | undefined

  const unfollow = waiting ? (): void => {} : request.stop.onStop((reason) => stop.stop(reason))
  stop.onStop(settled.reject)
  /** The answer to a call that is not a task is that of its work. */
  const leaveCall = (): boolean => {
    if (phase !== 'call') return false
    phase = 'over'
    cancelStart()
    unfollow()
    return true
  }
  settled.promise.then(
    (answer) => leaveCall() && answered.resolve(answer),
    (thrown: unknown) => leaveCall() && answered.reject(thrown),
  )

  /** One literal, because a record made of parts would cost several times as much. */
  const newRecord = (process: string | undefined, waits: WaitingCall | undefined, keepMs: number): RunningCall => {
    const now = clock.now()
    return {
      id,
      tenant,
      subject: caller.subject,
      tool: target.name,
      createdAt: now,
      changedAt: now,
      until: now + keepMs,
      process,
      waits,
      message,
      rounds: 0,
      questions: {},
      answers: {},
    }
  }
  async function change(step: Step): Promise<ChangedCall | undefined> {
    const changed = await calls.change(tenant, id, step, stored)
    stored = changed
    return changed
  }

  /** Writes the record; from then on the work belongs to it. Rejects if that is not possible: the call goes on as a call. */
  function become(): Promise<void> {
    becoming ??= create().catch((thrown: unknown) => {
      becoming = undefined
      throw thrown
    })
    return becoming
  }
  async function create(): Promise<void> {
    if (phase !== 'call') return
    let release = (): void => {}
    const record = newRecord(lease.id, undefined, ttlMs)
    try {
      release = await holdPlace(deps, tenant, caller.subject)
      stored = await calls.create(record)
    } catch (thrown) {
      release()
      if (thrown instanceof RpcError) throw thrown
      throw new RpcError('storeUnavailable', 'The task could not be stored: nothing was run', { cause: thrown })
    }
    // The work was faster, or the request ended: the record was never acknowledged.
    if (phaseNow() === 'over') {
      release()
      await calls.delete(tenant, id).catch(() => {})
      return
    }
    request.facts['task'] = id
    unfollow()
    own(record, release)
    answered.resolve(createTaskResult(record, intervals))
  }
  /** Read through a function: the compiler does not see that it changes while something is awaited. */
  const phaseNow = (): typeof phase => phase

  /** From here on the record says what becomes of the work. */
  function own(record: RunningCall, release: () => void): void {
    phase = 'task'
    const unwatch = runs.watch(id, () => {
      // Another process may have changed the record, so the next step reads it.
      stored = undefined
      follower.wake()
    })
    const startedAt = clock.now()
    const hide = runs.show(() => ({ id, tool: target.name, tenant, caller: caller.subject, startedAt, message }))
    const runningId = host.running.add(stop)
    // A tool that knows nothing of tasks keeps its own deadline. The work of others ends with the record.
    const leftMs = isTaskTool(target) ? record.until - clock.now() : Math.min(target.policy.timeoutMs, ttlMs)
    cancelDeadline = deps.after(leftMs, () => stop.stop(new RpcError('timeout', `Not done within ${leftMs} ms`)))
    async function concluded(): Promise<void> {
      const step = await observedEnd()
      phase = 'over'
      cancelReport?.()
      cancelDeadline()
      unwatch()
      try {
        await writeEnd(step)
      } catch (thrown) {
        logger.error({ event: 'taskNotRecorded', tool: target.name, task: id, ...causeOf(thrown) })
        // The task was acknowledged, so its end is written as soon as the store takes it.
        await retryEnd(() => writeEnd(step), { clock, endings, until: record.until })
      }
      hide()
      host.running.delete(runningId)
      release()
      if (waiting) runs.leave(id)
      runs.announce(id)
    }
    const ending = concluded()
    endings.add(ending)
    deps.waitUntil?.(ending)
  }

  /** A result that is too large for the store is replaced, because its task would otherwise never end. */
  async function writeEnd(step: Step): Promise<void> {
    try {
      await change(step)
    } catch (thrown) {
      if (!(thrown instanceof RpcError) || thrown.reason !== 'payloadTooLarge') throw thrown
      const tooLarge = new RpcError('resultTooLarge', 'The task ran, but its result is too large to be stored')
      const { outcome, message: why } = outcomeOfThrown(tooLarge, deps.newErrorId())
      await change(finish(lease.id, outcome, why))
    }
  }

  /** Shows the run to the observers, and returns the step that ends its record. */
  async function observedEnd(): Promise<Step> {
    try {
      const answer = await deps.observed({ ...request, stop, ready: { run: () => settled.promise } })
      return finish(lease.id, outcomeOfAnswer(answer))
    } catch (thrown) {
      const why = stop.reason ?? thrown
      if (why === stillPending) return unclaim(lease.id)
      const { outcome, message } = outcomeOfThrown(why, request.facts.reference ?? deps.newErrorId())
      return finish(lease.id, outcome, message)
    }
  }

  const follower = createRecordFollower(deps, tenant, stop, () => (phase === 'task' ? id : undefined))
  const askRound: AskRound = async (questions) => {
    const written = await change(askStep(lease.id, questions))
    if (!written?.changed) throw stop.reason ?? new RpcError('cancelled', 'Cancelled')
    const answers = follower.answersTo(written.call)
    runs.announce(id)
    return { round: written.call.rounds, answers: await answers }
  }

  function reportProgress({ message: sentence, progress, total }: Params): void {
    const text =
      typeof sentence === 'string' ? sentence : [progress, total].filter((part) => part !== undefined).join(' of ')
    message = text.slice(0, maxMessage).toWellFormed()
    if (phase !== 'task') return
    cancelReport ??= clock.after(reportMs, () => {
      cancelReport = undefined
      change(report(lease.id, message ?? '')).then(
        (written) => written?.changed && runs.announce(id),
        () => {},
      )
    })
  }

  const task: CallTask = {
    id,
    ...(waiting?.record.waits && { answers: waiting.record.waits.answers, ticket: waiting.record.waits.ticket }),
    start() {
      if (waiting || !isTaskTool(target)) return undefined
      if (target.task === 'always') return become()
      const { taskAfterMs = defaultAfterMs } = target
      const stayCall = (thrown: unknown): void =>
        logger.warn({ event: 'taskNotCreated', tool: target.name, ...causeOf(thrown) })
      if (taskAfterMs === 0) return become().catch(stayCall)
      cancelStart = clock.after(taskAfterMs, () => {
        become().catch(stayCall)
      })
      return undefined
    },
    async approvalRequired({ id: ticket, url, decideMs, runMs }, given) {
      if (waiting) throw stillPending
      message = url === undefined ? 'Waiting for approval' : `Waiting for approval: ${url}`
      const record = newRecord(undefined, { ticket, args, answers: given }, decideMs + runMs)
      await calls.create(record)
      request.facts['task'] = id
      return createTaskResult(record, intervals)
    },
    ask(questions) {
      if (target.policy.approval !== 'never' || waiting)
        return Promise.reject(fail('A call that needs an approval cannot ask while it works.'))
      const next = async (): Promise<Params> => {
        await become()
        return askAll(request, questions, askRound)
      }
      const asked = lastAsk ? lastAsk.then(next, next) : next()
      lastAsk = asked.catch(() => {})
      return asked
    },
  }

  const call: Call = {
    ...request,
    stop,
    task,
    // Progress becomes the status of the task, so it is wanted even if the client asked for none.
    meta: { ...request.meta, progressToken: clientToken ?? id },
    notify(method, params) {
      if (method === 'notifications/progress') {
        reportProgress(params)
        if (clientToken === undefined) return
      }
      if (phase === 'call' && !waiting) request.notify(method, params)
    },
  }
  if (waiting) own(waiting.record, waiting.release)
  // Not `settled.resolve(promise)`, because a stop must still be able to settle it.
  callAsync(work, call).then(settled.resolve, settled.reject)
  return answered.promise
}

const causeOf = (thrown: unknown): Params => ({
  ...bugOf(thrown instanceof RpcError ? (thrown.cause ?? new Error(thrown.message)) : thrown),
})
