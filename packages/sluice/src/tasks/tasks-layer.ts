/**
 * The layers of tasks. The outer one stands inside the deadline of the request and outside everything that the work
 * holds, so that the answer can leave while the work goes on. The inner one stands right before the work: validation,
 * questions and approvals come first, and a call that they refuse never is a task.
 */

import type { Handler, Layer } from '../core/call.ts'
import type { InstalledTasks } from './deps.ts'
import { isTaskTool, runAsTask } from './task-run.ts'
import { isDeclared, notDeclared } from './wire.ts'

export const tasksLayer =
  (installed: (next: Handler) => InstalledTasks): Layer =>
  (next) => {
    const deps = installed(next)
    const { approvals, park } = deps.host.slots
    return (call) => {
      const { target } = call
      const mayBecomeTask = isTaskTool(target) || approvals || (park && target.asksWhileRunning)
      // Most calls are of other tools, so they pass before the client's capabilities are read.
      if (!mayBecomeTask || target.kind !== 'tool') return next(call)
      if (isDeclared(call)) return runAsTask(deps, call, next)
      if (target.task === 'always') throw notDeclared()
      return next(call)
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
