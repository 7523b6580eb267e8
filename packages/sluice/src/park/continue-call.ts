/** A later request of a parked call: brings answers, and waits for the next questions or the outcome, in any process. */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { Reason } from '../core/error.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { inDoubt, outcomeOfThrown } from '../running-calls/outcome.ts'
import type { RunningCall, RunningCallOutcome } from '../running-calls/record.ts'
import { answer, cancel, finish } from '../running-calls/transitions.ts'
import type { ParkDeps } from './deps.ts'
import { questionsResult } from './state.ts'

const unknownCall = (): RpcError =>
  invalidParams('this call is no longer waiting for an answer: call again without requestState')

export async function continueCall(deps: ParkDeps, call: Call, id: string): Promise<Answer> {
  const { calls, runs, local } = deps
  const tenant = call.tenant.id
  const responses = call.params['inputResponses'] ?? {}
  if (!isObject(responses)) throw invalidParams('inputResponses must be an object')
  const owner = local.get(id)
  // First, so that the work cannot end between the answers and the wait.
  const waiting = owner?.attach(call)
  waiting?.answer.catch(() => {})
  let now: Promise<Answer> | undefined
  try {
    const written = await calls.change(tenant, id, answer(responses))
    if (!written) throw unknownCall()
    if (written.changed) {
      runs.announce(id)
      owner?.wake()
    }
    now = resultNow(deps, call, written.call)
  } catch (thrown) {
    waiting?.leave()
    throw thrown
  }
  if (!now) return waiting?.answer ?? waitElsewhere(deps, call, id)
  waiting?.leave()
  return now
}

/** Returns what the record says already: the outcome, or questions without an answer. */
function resultNow(deps: ParkDeps, call: Call, record: RunningCall): Promise<Answer> | undefined {
  if (record.outcome) return answerOf(record.outcome)
  if (Object.keys(record.questions).length > 0) return questionsResult(call, record, deps.seal, deps.parkMs)
  return undefined
}

/** The work is in another process. Its next step shows in the record. */
function waitElsewhere(deps: ParkDeps, call: Call, id: string): Promise<Answer> {
  const { calls, runs } = deps
  const tenant = call.tenant.id
  return new Promise<Answer>((resolve, reject) => {
    let unlisten = (): void => {}
    const settle = (answered: Promise<Answer>): void => {
      unwatch()
      unlisten()
      answered.then(resolve, reject)
    }
    async function look(): Promise<void> {
      const record = await calls.read(tenant, id)
      if (!record) return settle(Promise.reject(unknownCall()))
      const now = resultNow(deps, call, record)
      if (now) return settle(now)
      if (await calls.isAbandoned(record)) settle(endAbandoned(deps, record))
    }
    const wake = (): void => {
      look().catch(() => {
        // The next look finds it.
      })
    }
    const unwatch = runs.watch(id, wake, true)
    unlisten = call.stop.onStop((reason) => {
      // The work must end with its last request, wherever it runs.
      calls.change(tenant, id, cancel).then(
        () => runs.announce(id),
        () => {},
      )
      settle(Promise.reject(reason))
    })
    wake()
  })
}

async function endAbandoned(deps: ParkDeps, record: RunningCall): Promise<Answer> {
  const reference = deps.newErrorId()
  const thrown = inDoubt(reference)
  const { outcome, message } = outcomeOfThrown(thrown, reference)
  const ended = await deps.calls.change(record.tenant, record.id, finish(record.process ?? '', outcome, message))
  // Its process wrote the outcome right before it ended.
  if (ended?.changed === false && ended.call.outcome) return answerOf(ended.call.outcome)
  deps.logger.error({ event: 'parkedAbandoned', tool: record.tool, call: record.id, reference })
  throw thrown
}

async function answerOf(outcome: RunningCallOutcome): Promise<Answer> {
  if ('result' in outcome) return outcome.result
  if ('cancelled' in outcome) throw new RpcError('cancelled', 'This call was cancelled')
  const { message, data } = outcome.error
  const { reason = 'internalError', ...rest } = data
  throw new RpcError(reason as Reason, message, { data: rest })
}
