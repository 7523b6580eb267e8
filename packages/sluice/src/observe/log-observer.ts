/** The sink that everybody has: one structured line per message, to any logger. Arguments and credentials are not in it. */

import type { Call, Via } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { CallOutcome, EndedCall } from '../core/observer.ts'
import { callerOf, clientOf, tenantOf } from './call-identity.ts'
import { newSpanId, newTraceId } from './ids.ts'
import { loggedArguments, refusedArguments, scalarAt } from './logged-arguments.ts'
import { bugFields, causesOf, messageOf } from './redact.ts'
import { setTraceFacts } from './trace-context.ts'

export const logObserver = (logger: Logger, server?: string): ((event: EndedCall) => void) =>
  function logObserver(event) {
    const { call, failed, thrown, outcome } = event
    const told = lineOf(event, server)
    if (!failed) return logger.info(told)
    const bug = thrown === undefined ? undefined : bugFields(call, thrown)
    const cause = causesOf(call, thrown)
    if (bug) return logger.error({ ...told, reason: outcome, ...bug, ...(cause !== undefined && { cause }) })
    const message = messageOf(call, thrown)
    const reason = thrown instanceof RpcError ? thrown.reason : 'toolFailed'
    const refused = thrown instanceof RpcError ? refusedArguments(call.target, thrown.data['issues']) : undefined
    logger.warn({
      ...told,
      reason,
      ...(message !== undefined && { message }),
      ...(refused !== undefined && { refusedArguments: refused }),
      ...(cause !== undefined && { cause }),
    })
  }

/** `undefined` if the logger takes no debug lines: then nothing is built for them. */
export function arrivalLog(logger: Logger, server: string): ((call: Call) => void) | undefined {
  if (!logger.debug) return undefined
  return function arrived(call) {
    setTraceFacts(call)
    const { id, method, target, revision, via, facts } = call
    logger.debug?.({
      event: 'request_received',
      server,
      id,
      method,
      tool: target.kind === 'tool' ? target.name : undefined,
      revision,
      transport: via.transport,
      traceId: facts['traceId'],
      spanId: facts['spanId'],
    })
  }
}

/** A client's notification has no answer and passes no layer, so its line is made here. */
export const notificationLog =
  (logger: Logger, server: string, clock: Clock) =>
  (method: string, { transport }: Via): (() => void) => {
    const receivedAt = clock.now()
    return () =>
      logger.info({
        event: 'notification',
        server,
        method: method.slice(0, maxMethodLength),
        transport,
        receivedAt,
        durationMs: clock.now() - receivedAt,
        traceId: newTraceId(),
        spanId: newSpanId(),
      })
  }

/** Cut, since any client can send it. */
const maxMethodLength = 128

/** One literal in a fixed order, so that all lines share a shape: put together from parts, they would cost several times as much. */
function lineOf(event: EndedCall, server: string | undefined): LogLine {
  const { call, receivedAt, durationMs, outcome } = event
  setTraceFacts(call)
  const { target, facts } = call
  const { kind } = target
  const client = clientOf(call)
  const told: { [field: string]: string | number | boolean | undefined; event: string } = {
    event: eventName(event),
    server,
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
    traceId: facts['traceId'],
    spanId: facts['spanId'],
    reference: facts.reference,
  }
  // Whatever else the layers found out.
  for (const fact in facts) if (!(fact in told)) told[fact] = facts[fact]
  if (kind === 'tool')
    for (const { field, path } of loggedArguments(target)) {
      const value = scalarAt(call.args, path)
      if (value !== undefined) told[field] = value
    }
  return told
}

/** What document 000 calls it, which says one of these at the end of a request; `request` where it has no name for it. */
const eventName = ({ call: { target, method }, outcome }: EndedCall): string =>
  outcome === 'complete'
    ? target.kind === 'tool'
      ? 'tool_execution_success'
      : method === 'tools/list'
        ? 'listing_tools'
        : 'request'
    : (eventNames.get(outcome) ?? 'request')

const eventNames: ReadonlyMap<CallOutcome, string> = new Map([
  ['approval_required', 'approval_required'],
  ['task', 'task_created'],
  ['toolError', 'tool_execution_failed'],
  ['toolFailed', 'tool_execution_failed'],
  ['toolCrashed', 'tool_execution_failed'],
  ['unknownTool', 'tool_not_found'],
  ['internalError', 'unexpected_request_error'],
])
