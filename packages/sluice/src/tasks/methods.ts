/**
 * The methods of tasks: `tasks/get`, `tasks/update` and `tasks/cancel`, and `taskIds` of `subscriptions/listen`.
 * Refused in this order: the header, the capability, the id. So a client that does not know tasks learns that first,
 * whatever id it sends.
 */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { bugOf, invalidParams } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { MethodRegistry } from '../core/plugin.ts'
import type { ExtensionMethod } from '../protocol/extend-registry.ts'
import { extendMethods } from '../protocol/extend-registry.ts'
import { checkNameHeader } from '../protocol/modern/headers.ts'
import type { RunningCall } from '../running-calls/record.ts'
import { answer, cancel } from '../running-calls/transitions.ts'
import type { InstalledTasks } from './deps.ts'
import { listen } from './listen.ts'
import { advance, ownTask, unknownTask } from './waiting-tasks.ts'
import { detailedTask, extension, isDeclared, notDeclared } from './wire.ts'

type Serve = (deps: InstalledTasks, call: Call, record: RunningCall) => Promise<Answer>

/** A task that has ended needs no further look. */
const get: Serve = async (deps, call, record) =>
  detailedTask(record.outcome ? record : await advance(deps, call, record), deps.intervals)

/** Applied before it is acknowledged: clients look right after. */
const update: Serve = async ({ calls, runs }, { params }, { tenant, id }) => {
  const responses = params['inputResponses']
  if (!isObject(responses)) throw invalidParams('inputResponses must be an object')
  const written = await calls.change(tenant, id, answer(responses))
  if (written?.changed) runs.announce(id)
  return {}
}

/** Acknowledged whatever the state is. */
const cancelTask: Serve = async (deps, call, { tenant, id, waits }) => {
  const { calls, runs, host, logger } = deps
  const written = await calls.change(tenant, id, cancel)
  if (!written?.changed) return {}
  runs.announce(id)
  if (waits && written.call.process === undefined)
    await host.slots.approvals?.tickets?.withdraw(waits.ticket, call).catch((thrown: unknown) => {
      // Decided meanwhile, or expired: no task is left that would run it.
      logger.info({ event: 'ticketNotWithdrawn', ticket: waits.ticket, task: id, ...bugOf(thrown) })
    })
  return {}
}

function taskMethods(installed: () => InstalledTasks): readonly ExtensionMethod[] {
  const method = (name: string, serve: Serve): ExtensionMethod => ({
    name,
    async run(call) {
      const { taskId } = call.params
      if (call.via.transport === 'http') checkNameHeader(call.via, 'taskId', taskId)
      if (!isDeclared(call)) throw notDeclared()
      if (typeof taskId !== 'string') throw invalidParams('taskId must be a string')
      const deps = installed()
      const record = await ownTask(deps, call, taskId)
      if (!record) throw unknownTask()
      call.facts['task'] = taskId
      return serve(deps, call, record)
    },
  })
  return [method('tasks/get', get), method('tasks/update', update), method('tasks/cancel', cancelTask)]
}

/**
 * Adds tasks to what a server serves on 2026-07-28. The settings are exactly an empty object: the official client takes
 * any other value for no capability.
 */
export const extendRegistry = <R extends MethodRegistry>(registry: R, installed: () => InstalledTasks): R =>
  extendMethods(registry, {
    ...{ extension, settings: {}, readOnly: false, methods: taskMethods(installed) },
    changed: { 'subscriptions/listen': (run, call) => listen(run, call, installed) },
  })
