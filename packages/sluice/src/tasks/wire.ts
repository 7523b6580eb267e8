/**
 * Tasks as clients of 2026-07-28 see them.
 *
 * https://modelcontextprotocol.io/extensions/tasks
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { featuresOf } from '../protocol/revisions.ts'
import type { RunningCall } from '../running-calls/record.ts'
import { statusOf } from '../running-calls/record.ts'

export const extension = 'io.modelcontextprotocol/tasks'

/** Whether this request says that its client knows tasks. What earlier requests said does not count. */
export const isDeclared = ({ revision, capabilities: { extensions } }: Call): boolean =>
  featuresOf(revision).era === 'modern' && isObject(extensions) && isObject(extensions[extension])

export const notDeclared = (): RpcError =>
  new RpcError('missingCapability', `This needs the client capability "${extension}"`, {
    data: { requiredCapabilities: { extensions: { [extension]: {} } } },
  })

/** How often a client should ask. */
export interface PollIntervals {
  readonly runningMs: number
  readonly waitingMs: number
}

/** Made for one answer, which adds its own members: copies would cost more than the task. */
interface WireTask {
  resultType?: 'task'
  [member: string]: unknown
}

/** Flat, without a wrapper. `ttlMs` counts from the creation. */
function taskOf(call: RunningCall, { runningMs, waitingMs }: PollIntervals): WireTask {
  const { id, createdAt, changedAt, until, message, process, outcome } = call
  const created = new Date(createdAt).toISOString()
  const task: WireTask = {
    taskId: id,
    status: statusOf(call),
    createdAt: created,
    lastUpdatedAt: changedAt === createdAt ? created : new Date(changedAt).toISOString(),
    ttlMs: Math.max(1, Math.ceil(until - createdAt)),
    pollIntervalMs: process === undefined && !outcome ? waitingMs : runningMs,
  }
  if (message !== undefined) task['statusMessage'] = message
  return task
}

/** The answer to `tools/call`. It carries neither results nor questions: clients ask for those. */
export function createTaskResult(call: RunningCall, intervals: PollIntervals): Result {
  const task = taskOf(call, intervals)
  task.resultType = 'task'
  return task
}

/** The answer to `tasks/get`, and what `notifications/tasks` carries. */
export function detailedTask(call: RunningCall, intervals: PollIntervals): Params {
  const { outcome, questions } = call
  const task = taskOf(call, intervals)
  if (!outcome) {
    if (task['status'] === 'input_required') task['inputRequests'] = questions
  } else if ('result' in outcome) task['result'] = outcome.result
  else if ('error' in outcome) task['error'] = outcome.error
  return task
}
