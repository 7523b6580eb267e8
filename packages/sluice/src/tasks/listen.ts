/** `taskIds` of `subscriptions/listen`: the whole task, as `tasks/get` shows it, whenever it changed. */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { RunMethod } from '../protocol/extend-registry.ts'
import { metaKeys } from '../protocol/revisions.ts'
import type { InstalledTasks } from './deps.ts'
import { advance, ownTask } from './waiting-tasks.ts'
import { detailedTask, isDeclared, notDeclared } from './wire.ts'

/** A subscription looks at each of its tasks every 5 s. */
const maxTasks = 100

type Notify = (method: string, params: Params) => void

interface TaskSubscription {
  readonly taskIds: readonly string[]
  /** Called after the acknowledgement. Returns a function that ends it. */
  start(notify: Notify): () => void
}

/** Resolves with `undefined` if the client asks for no tasks. */
async function subscribe(call: Call, installed: () => InstalledTasks): Promise<TaskSubscription | undefined> {
  const asked = call.params['notifications']
  const ids = isObject(asked) ? asked['taskIds'] : undefined
  if (ids === undefined) return undefined
  if (!isDeclared(call)) throw notDeclared()
  if (!Array.isArray(ids) || ids.length > maxTasks || !ids.every((id) => typeof id === 'string'))
    throw invalidParams(`taskIds must be at most ${maxTasks} strings`)
  const deps = installed()
  // Tasks of other callers are left out like those that do not exist.
  const found = await Promise.all([...new Set<string>(ids)].map((id) => ownTask(deps, call, id)))
  const taskIds = found.flatMap((record) => record?.id ?? [])
  return {
    taskIds,
    start(notify) {
      const ends = taskIds.map((id) => follow(deps, call, id, notify))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/** The acknowledgement lists the tasks too; what they have to tell follows it. */
export async function listen(run: RunMethod, call: Call, installed: () => InstalledTasks): Promise<Answer> {
  const subscription = await subscribe(call, installed)
  if (!subscription) return run(call)
  const { taskIds } = subscription
  const _meta = { [metaKeys.subscription]: call.id }
  let end = (): void => {}
  const notify: Call['notify'] = (method, params) => {
    if (method !== 'notifications/subscriptions/acknowledged') return call.notify(method, params)
    const notifications = { ...(isObject(params['notifications']) && params['notifications']), taskIds }
    call.notify(method, { ...params, notifications })
    end = subscription.start((changed, about) => call.notify(changed, { ...about, _meta }))
  }
  try {
    return await run({ ...call, notify })
  } finally {
    end()
  }
}

function follow(deps: InstalledTasks, call: Call, id: string, notify: Notify): () => void {
  let last = ''
  let over = false
  let looking: Promise<void> = Promise.resolve()
  const look = async (): Promise<void> => {
    const found = over ? undefined : await ownTask(deps, call, id)
    if (!found) return
    const record = await advance(deps, call, found)
    const task = detailedTask(record, deps.intervals)
    const text = JSON.stringify(task)
    if (over || text === last) return
    last = text
    notify('notifications/tasks', task)
    if (record.outcome) end()
  }
  // One at a time, so that no notification overtakes a newer one. A look that fails is made up for by the next.
  const wake = (): void => {
    looking = looking.then(look).catch(() => {})
  }
  const unwatch = deps.runs.watch(id, wake, true)
  const end = (): void => {
    over = true
    unwatch()
  }
  wake()
  return end
}
