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

/** Flat, without a wrapper. `ttlMs` counts from the creation. */
function taskOf(call: RunningCall, { runningMs, waitingMs }: PollIntervals): Params {
  const { id, createdAt, changedAt, until, message, process, outcome } = call
  return {
    taskId: id,
    status: statusOf(call),
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(changedAt).toISOString(),
    ttlMs: Math.max(1, Math.ceil(until - createdAt)),
    pollIntervalMs: process === undefined && !outcome ? waitingMs : runningMs,
  }
}

/** The answer to `tools/call`. It carries neither results nor questions: clients ask for those. */
export const createTaskResult = (call: RunningCall, intervals: PollIntervals): Result => ({
  resultType: 'task',
  ...taskOf(call, intervals),
})

/** The answer to `tasks/get`, and what `notifications/tasks` carries. */
export function detailedTask(call: RunningCall, intervals: PollIntervals): Params {
  const { outcome, questions } = call
  const task = taskOf(call, intervals)
  if (!outcome) return Object.keys(questions).length > 0 ? { ...task, inputRequests: questions } : task
  if ('result' in outcome) return { ...task, result: outcome.result }
  return 'error' in outcome ? { ...task, error: outcome.error } : task
}
