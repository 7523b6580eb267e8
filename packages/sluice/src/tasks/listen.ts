/** `taskIds` of `subscriptions/listen`: the whole task, as `tasks/get` shows it, whenever it changed. */

import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { InstalledTasks } from './deps.ts'
import { advance, ownTask } from './waiting-tasks.ts'
import { detailedTask, isDeclared, notDeclared } from './wire.ts'

/** A subscription looks at each of its tasks every 5 s. */
const maxTasks = 100

type Notify = (method: string, params: Params) => void

export interface TaskSubscription {
  readonly taskIds: readonly string[]
  /** Called after the acknowledgement. Returns a function that ends it. */
  start(notify: Notify): () => void
}

/** Resolves with `undefined` if the client asks for no tasks. */
export const taskSubscription =
  (installed: () => InstalledTasks) =>
  async (call: Call): Promise<TaskSubscription | undefined> => {
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
