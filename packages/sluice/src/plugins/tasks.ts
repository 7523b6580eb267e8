/** The plugin `tasks`: calls that outlive their request, on 2026-07-28. */

import type { Handler } from '../core/call.ts'
import { pipeline } from '../core/call.ts'
import type { SlotPlugin, TaskHost } from '../core/plugin.ts'
import { isEdgeRuntime } from '../core/secrets.ts'
import type { Target } from '../core/target.ts'
import { lateTimers } from '../core/turn.ts'
import { run } from '../layers/run.ts'
import { pollMs } from '../running-calls/local-runs.ts'
import { assertAtLeastOne, createRunningCalls } from '../running-calls/running-calls.ts'
import type { InstalledTasks } from '../tasks/deps.ts'
import { extendRegistry } from '../tasks/methods.ts'
import { startLayer, tasksLayer } from '../tasks/tasks-layer.ts'

/** How long tasks are kept, and how many may run. */
export interface TasksOptions {
  /** How long a task may run, and how long its result can be read, from its creation: an hour by default. */
  readonly ttlMs?: number
  /** How often clients should look at a running task: 1 s by default. */
  readonly pollIntervalMs?: number
  /** Running tasks of one caller in each process: 20 by default. */
  readonly perCaller?: number
  /** Running tasks of one tenant in each process: 100 by default. */
  readonly perTenant?: number
  /** Running tasks in each process: 1000 by default. */
  readonly perProcess?: number
  /**
   * Keeps an edge runtime alive until the work has ended: `waitUntil` from `cloudflare:workers`. There tasks are off
   * without it, because the runtime may end work once the request is answered.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/**
 * Answers long calls with tasks that the client polls, and calls that need an approval with a task that runs once a
 * person has decided. For clients that declare `io.modelcontextprotocol/tasks`; other clients see no difference.
 */
export const tasks = (options: TasksOptions = {}): SlotPlugin<'tasks'> => ({
  slot: 'tasks',
  create(services) {
    const { clock, logger, newErrorId, gauges } = services
    if (isEdgeRuntime() && !options.waitUntil) return {}
    const { ttlMs = 3_600_000, pollIntervalMs = 1_000, perCaller = 20, perTenant = 100, perProcess = 1_000 } = options
    const caps = { perCaller, perTenant, perProcess }
    assertAtLeastOne('tasks', { ttlMs, pollIntervalMs, ...caps })
    const { close, ...running } = createRunningCalls(services, { noun: 'tasks', area: 'task', caps })
    const { runs } = running
    const deps: Omit<InstalledTasks, 'host' | 'next' | 'observed'> = {
      ...{ ...running, clock, after: lateTimers(clock), logger, newErrorId, ttlMs },
      intervals: { runningMs: pollIntervalMs, waitingMs: pollMs },
      waitUntil: options.waitUntil,
    }
    gauges.push({ name: 'sluice_tasks', help: 'Tasks that run in this process.', type: 'gauge', read: () => runs.size })
    let installed: InstalledTasks | undefined
    const inServer = (): InstalledTasks => {
      if (!installed) throw new Error('The tasks layer is not installed')
      return installed
    }
    return {
      createLayer: (host) => tasksLayer((next) => (installed = { ...deps, host, next, observed: observedRun(host) })),
      startLayer,
      extendRegistry: (registry) => extendRegistry(registry, inServer),
      accepts({ tools = [] }) {
        for (const tool of tools) assertTaskMode(tool)
      },
      close,
    }
  },
})

const observedRun = ({ slots: { tracing }, observe }: TaskHost): Handler =>
  pipeline(tracing?.layer ? [tracing.layer, observe] : [observe], run)

function assertTaskMode({ name, taskAfterMs = 0 }: Target): void {
  if (!(taskAfterMs >= 0)) throw new TypeError(`tool "${name}": "taskAfterMs" must be at least 0`)
}
