/** The sink that everybody has: one structured line per message, to any logger. Arguments and credentials are not in it. */

import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { Observed, Outcome, Sink } from '../core/observed.ts'
import { loggableOf, scalarAt } from './loggable.ts'
import { callerOf, clientOf, tenantOf } from './observed.ts'
import { bugLineOf, messageOf } from './redact.ts'
import { traceIdOf } from './trace-context.ts'

export const line = (logger: Logger): Sink =>
  function line(event) {
    const { failed, thrown, outcome } = event
    const told = lineOf(event)
    if (!failed) return logger.info(told)
    const bug = thrown === undefined ? undefined : bugLineOf(event.call, thrown)
    if (bug) return logger.error({ ...told, reason: outcome, ...bug })
    const message = messageOf(event.call, thrown)
    const reason = thrown instanceof RpcError ? thrown.reason : 'toolFailed'
    logger.warn(message === undefined ? { ...told, reason } : { ...told, reason, message })
  }

/** One literal in a fixed order, so that all lines share a shape: put together from parts, they would cost several times as much. */
function lineOf(event: Observed): LogLine {
  const { call, receivedAt, durationMs, outcome } = event
  const { target, facts } = call
  const { kind } = target
  const client = clientOf(call)
  const told: { [field: string]: string | number | boolean | undefined; event: string } = {
    event: nameOf(event),
    id: call.id,
    method: call.method,
    tool: kind === 'tool' ? target.name : undefined,
    target: kind === 'tool' || kind === 'method' ? undefined : target.name,
    caller: callerOf(call),
    tenant: tenantOf(call),
    client: client.name,
    clientVersion: client.version,
    revision: call.revision,
    transport: call.via.transport,
    receivedAt,
    durationMs,
    outcome,
    traceId: traceIdOf(call),
    reference: facts.reference,
  }
  // Whatever else the layers found out.
  for (const fact in facts) if (!(fact in told)) told[fact] = facts[fact]
  if (kind === 'tool')
    for (const { field, path } of loggableOf(target)) {
      const value = scalarAt(call.args, path)
      if (value !== undefined) told[field] = value
    }
  return told
}

/** What document 000 calls it, which says one of these at the end of a request; `request` where it has no name for it. */
const nameOf = ({ call: { target, method }, outcome }: Observed): string =>
  outcome === 'complete'
    ? target.kind === 'tool'
      ? 'tool_execution_success'
      : method === 'tools/list'
        ? 'listing_tools'
        : 'request'
    : (names.get(outcome) ?? 'request')

const names: ReadonlyMap<Outcome, string> = new Map([
  ['toolError', 'tool_execution_failed'],
  ['toolFailed', 'tool_execution_failed'],
  ['toolCrashed', 'tool_execution_failed'],
  ['unknownTool', 'tool_not_found'],
  ['internalError', 'unexpected_request_error'],
])
