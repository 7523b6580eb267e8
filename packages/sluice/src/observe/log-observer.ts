/**
 * The default observer: one structured line per message, to any logger. It contains no arguments and no credentials.
 */

import type { Call, Via } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { CallOutcome, EndedCall } from '../core/observer.ts'
import { clientOf } from '../protocol/client-info.ts'
import { callerOf, tenantOf } from './call-identity.ts'
import { newSpanId, newTraceId } from './ids.ts'
import { bugFields, causesOf, messageOf } from './redact.ts'
import { refusedArguments } from './refused-arguments.ts'
import { setTraceFacts } from './trace-context.ts'

export const logObserver = (logger: Logger, server?: string): ((event: EndedCall) => void) =>
  function logObserver(event) {
    const { call, failed, thrown, outcome } = event
    const line = lineOf(event, server)
    if (!failed) return logger.info(line)
    const bug = thrown === undefined ? undefined : bugFields(call, thrown)
    const cause = causesOf(call, thrown)
    if (bug) return logger.error({ ...line, reason: outcome, ...bug, ...(cause !== undefined && { cause }) })
    const message = messageOf(call, thrown)
    const reason = thrown instanceof RpcError ? thrown.reason : 'toolFailed'
    const refused = thrown instanceof RpcError ? refusedArguments(call.target, thrown.data['issues']) : undefined
    logger.warn({
      ...line,
      reason,
      ...(message !== undefined && { message }),
      ...(refused !== undefined && { refusedArguments: refused }),
      ...(cause !== undefined && { cause }),
    })
  }

/** Logs the arrival of requests; `undefined` if the logger has no `debug`, so that nothing is built for it. */
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

/** Logs a client's notification. It has no answer and passes no layer, so its line is made here. */
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

/** Truncated, because any client can send it. */
const maxMethodLength = 128

/**
 * Builds a line as one literal in a fixed order, so that all lines share a shape. Lines built from parts would cost
 * several times as much.
 */
function lineOf(event: EndedCall, server: string | undefined): LogLine {
  const { call, receivedAt, durationMs, outcome } = event
  setTraceFacts(call)
  const { target, facts } = call
  const { kind } = target
  const client = clientOf(call)
  const line: { [field: string]: string | number | boolean | undefined; event: string } = {
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
  // Further facts that the layers found.
  for (const fact in facts) if (!(fact in line)) line[fact] = facts[fact]
  return line
}

/** Returns the event name that docs/documents.md#000 defines for the end of a request; otherwise `request`. */
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
