/**
 * The layers of tasks. The outer one stands inside the deadline of the request and outside everything that the work
 * holds, so that the answer can leave while the work goes on. The inner one stands right before the work: validation,
 * questions and approvals come first, and a call that they refuse never is a task.
 */

import type { Call, Handler, Layer } from '../core/call.ts'
import { callAsync } from '../core/call.ts'
import type { InstalledTasks } from './deps.ts'
import { createTaskRun, isTaskTool } from './task-run.ts'
import { isDeclared, notDeclared } from './wire.ts'

export const tasksLayer =
  (installed: (next: Handler) => InstalledTasks): Layer =>
  (next) => {
    const deps = installed(next)
    return (call) => {
      const { target } = call
      if (target.kind !== 'tool') return next(call)
      if (!isDeclared(call)) {
        if (target.task === 'always') throw notDeclared()
        return next(call)
      }
      const { approvals, park } = deps.host.slots
      return isTaskTool(target) || approvals || (park && target.asksWhileRunning) ? mayBecomeTask(call) : next(call)
    }
    function mayBecomeTask(call: Call): ReturnType<Handler> {
      const run = createTaskRun(deps, call)
      return run.follow(callAsync(next, run.call))
    }
  }

export const startLayer: Layer = (next) => (call) => {
  const starting = call.task?.start()
  if (!starting) return next(call)
  return starting.then(() => {
    if (call.stop.reason) throw call.stop.reason
    return next(call)
  })
}
