/**
 * What a look at a task can set off. A decision only writes its ticket; the caller's next look, in any process, claims the
 * task by one swap and runs it. So a run needs neither a stored credential nor a scheduler, and a caller that no longer
 * asks runs nothing. A look also finds that the process of a task is gone.
 */

import type { Call } from '../core/call.ts'
import { pipeline } from '../core/call.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import { inDoubt, outcomeOfThrown } from '../running-calls/outcome.ts'
import type { RunningCall } from '../running-calls/record.ts'
import { holdPlace } from '../running-calls/running-calls.ts'
import { claim, finish, unclaim } from '../running-calls/transitions.ts'
import type { InstalledTasks } from './deps.ts'
import type { ClaimedTask } from './task-run.ts'
import { runAsTask } from './task-run.ts'

/** One text for unknown, expired and foreign: the difference would tell which ids exist. */
export const unknownTask = (): RpcError => invalidParams('unknown task')

/** `undefined` if the caller has no such task. */
export async function ownTask({ calls }: InstalledTasks, call: Call, id: string): Promise<RunningCall | undefined> {
  const record = await calls.read(call.tenant.id, id)
  return record?.subject === call.caller.subject ? record : undefined
}

/** Returns the record as it is after the look. */
export async function advance(deps: InstalledTasks, call: Call, record: RunningCall): Promise<RunningCall> {
  const { calls, runs, lease, host } = deps
  if (record.outcome) return record
  if (record.process !== undefined && record.process !== lease.id)
    return (await calls.isAbandoned(record)) ? endAbandoned(deps, record, record.process) : record
  if (!record.waits || runs.has(record.id)) return record
  if (record.process === undefined && (await host.slots.approvals?.tickets?.isPending(record.waits.ticket)))
    return record
  return claimAndRun(deps, call, record)
}

async function endAbandoned(deps: InstalledTasks, record: RunningCall, process: string): Promise<RunningCall> {
  const reference = deps.newErrorId()
  const { outcome, message } = outcomeOfThrown(inDoubt(reference), reference)
  const ended = await deps.calls.change(record.tenant, record.id, finish(process, outcome, message))
  if (ended?.changed) {
    deps.logger.error({ event: 'taskAbandoned', tool: record.tool, task: record.id, reference })
    deps.runs.announce(record.id)
  }
  return ended?.call ?? record
}

async function claimAndRun(deps: InstalledTasks, call: Call, record: RunningCall): Promise<RunningCall> {
  const { calls, runs, lease, ttlMs } = deps
  const { id, tenant, subject } = record
  // Marked before the claim: a record that names this process, and is not marked, is a claim whose answer was lost.
  if (!runs.enter(id)) return record
  let release = (): void => {}
  const giveUp = (): void => {
    release()
    runs.leave(id)
  }
  try {
    release = await holdPlace(deps, tenant, subject)
    const isOurs = record.process === lease.id
    const claimed = isOurs ? { call: record, changed: true } : await calls.change(tenant, id, claim(lease.id, ttlMs))
    if (!claimed?.changed) {
      giveUp()
      return claimed?.call ?? record
    }
    run(deps, call, { record: claimed.call, release })
    return claimed.call
  } catch (thrown) {
    giveUp()
    // The claim may have been written: nothing runs under it, so any process may take it.
    calls.change(tenant, id, unclaim(lease.id)).catch(() => {})
    // Too many tasks: this one waits on.
    if (thrown instanceof RpcError && thrown.reason === 'rateLimited') return record
    throw thrown
  }
}

function run(deps: InstalledTasks, call: Call, claimed: ClaimedTask): void {
  const { host, next } = deps
  const { id: task, tool: name, waits } = claimed.record
  const args = waits?.args ?? {}
  const { transport, peer, connection } = call.via
  const { caller, tenant, credential } = call.facts
  const found = host.registry().resolve('tools/call', { name, arguments: args }, 'modern')
  const { headers: _, ...target } = found.find?.(call) ?? found.target
  const request: Call = {
    ...call,
    method: 'tools/call',
    params: { name, arguments: args },
    meta: {},
    args,
    target,
    ready: undefined,
    answers: {},
    // The headers belong to the request that asked for the task, not to the call.
    via: { transport, peer, header: () => undefined, ...(connection && { connection }) },
    notify: () => {},
    stayOpen: undefined,
    detach: () => {},
    facts: { caller, tenant, credential, task },
  }
  // Its record says how it ends.
  runAsTask(deps, request, pipeline([host.authorize], next), claimed).catch(() => {})
}
