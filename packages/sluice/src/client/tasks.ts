/**
 * Work that outlives its request: the client polls until it is done, answers the task's questions, and returns the result that the
 * request would have returned. The tasks extension of 2026-07-28, and the experimental tasks of 2025-11-25.
 *
 * https://modelcontextprotocol.io/extensions/tasks
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { ClientError, toServerError } from './errors.ts'
import { UndeclaredQuestion } from './questions.ts'
import type { ServerQuestion } from './session.ts'
import { delay } from './subscriptions.ts'

/** The id of the extension, as capabilities name it. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

export interface TaskRequester {
  ask(method: string, params: Params): Promise<Params>
  /** As `ask`, but not ended by the caller's signal: the cancellation of a task goes out after it. */
  askAnyway(method: string, params: Params): Promise<Params>
  answer(question: ServerQuestion): Promise<Params>
  onStatus?: ((task: Params) => void) | undefined
  readonly signal: AbortSignal | undefined
  readonly clock: Clock
}

const defaultPollMs = 1000
const minPollMs = 10
const maxPollMs = 60_000
const finalStates = new Set(['completed', 'failed', 'cancelled'])

const pollMs = (hint: unknown): number =>
  typeof hint === 'number' && hint > 0 ? Math.min(Math.max(hint, minPollMs), maxPollMs) : defaultPollMs

/** Returns the task of a result, in either form, or `undefined` if the result is not a task. */
export function taskOf(result: Params): { readonly task: Params; readonly legacy: boolean } | undefined {
  if (result['resultType'] === 'task' && typeof result['taskId'] === 'string') return { task: result, legacy: false }
  const { task } = result
  return result['resultType'] === undefined && isObject(task) && typeof task['taskId'] === 'string'
    ? { task, legacy: true }
    : undefined
}

/** Follows a task to its end and returns the result of the request that began it. */
export async function awaitTask(created: Params, legacy: boolean, deps: TaskRequester): Promise<Params> {
  const taskId = String(created['taskId'])
  try {
    return await (legacy ? followLegacy(created, taskId, deps) : follow(created, taskId, deps))
  } catch (thrown) {
    // The caller does not wait any longer; the server should not work any longer.
    if (deps.signal?.aborted) await deps.askAnyway('tasks/cancel', { taskId }).catch(() => undefined)
    throw thrown
  }
}

async function follow(created: Params, taskId: string, deps: TaskRequester): Promise<Params> {
  const answered = new Set<string>()
  for (let task = created; ; task = await current(taskId, deps)) {
    deps.onStatus?.(task)
    if (task['status'] === 'completed' && isObject(task['result'])) return task['result']
    if (task['status'] === 'failed' && task !== created) throw toServerError(task['error'])
    if (task['status'] === 'cancelled') throw new ClientError('cancelled', 'The server cancelled the task')
    if (task['status'] === 'input_required') await answerOpen(task, taskId, answered, deps)
    // The answer that created the task may have any status, but has no result.
    if (task !== created || !finalStates.has(String(task['status'])))
      await delay(pollMs(task['pollIntervalMs']), deps.signal, deps.clock)
    if (deps.signal?.aborted) throw new ClientError('cancelled', 'Cancelled')
  }
}

async function current(taskId: string, { ask }: TaskRequester): Promise<Params> {
  const task = await ask('tasks/get', { taskId })
  if (task['taskId'] !== taskId) throw new ClientError('protocol', 'The server answered with another task')
  return task
}

/** A key stays open until the server has seen its answer, so each is answered once. */
async function answerOpen(task: Params, taskId: string, answered: Set<string>, deps: TaskRequester): Promise<void> {
  const requests = isObject(task['inputRequests']) ? task['inputRequests'] : {}
  const inputResponses: Record<string, Params> = {}
  for (const [key, question] of Object.entries(requests)) {
    if (answered.has(key) || !isObject(question) || typeof question['method'] !== 'string') continue
    answered.add(key)
    inputResponses[key] = await answerOrCancel(question['method'], question['params'], deps)
  }
  if (Object.keys(inputResponses).length > 0) await deps.ask('tasks/update', { taskId, inputResponses })
}

/** A question that was not declared is answered too: otherwise the task waits until it expires. */
async function answerOrCancel(method: string, params: unknown, { answer }: TaskRequester): Promise<Params> {
  try {
    return await answer({ method, params: isObject(params) ? params : {} })
  } catch (thrown) {
    if (thrown instanceof UndeclaredQuestion) return { action: 'cancel' }
    throw thrown
  }
}

/** 2025-11-25: the questions of a task come as requests while `tasks/result` waits. */
async function followLegacy(created: Params, taskId: string, deps: TaskRequester): Promise<Params> {
  let task = created
  while (!finalStates.has(String(task['status'])) && task['status'] !== 'input_required') {
    deps.onStatus?.(task)
    await delay(pollMs(task['pollInterval']), deps.signal, deps.clock)
    if (deps.signal?.aborted) throw new ClientError('cancelled', 'Cancelled')
    task = await current(taskId, deps)
  }
  deps.onStatus?.(task)
  if (task['status'] === 'cancelled') throw new ClientError('cancelled', 'The server cancelled the task')
  return deps.ask('tasks/result', { taskId })
}
