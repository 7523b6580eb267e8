/**
 * The default observer: one structured line per message, to any logger. It contains no arguments and no credentials.
 */

import type { Call, Facts, Via } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { LogFields, Logger, LogLine } from '../core/log.ts'
import { membersOf } from '../core/log.ts'
import type { CallOutcome, EndedCall } from '../core/observer.ts'
import type { Target } from '../core/target.ts'
import type { ClientInfo } from '../protocol/client-info.ts'
import { clientOf } from '../protocol/client-info.ts'
import { callerOf, tenantOf } from './call-identity.ts'
import { newSpanId, newTraceId } from './ids.ts'
import { bugFields, causesOf, messageOf } from './redact.ts'
import { refusedArguments } from './refused-arguments.ts'
import { svgImageWarning } from './svg-images.ts'
import { setTraceFacts } from './trace-context.ts'

export function logObserver(logger: Logger, server?: string): (event: EndedCall) => void {
  const warnOfSvg = svgImageWarning(logger, server)
  const logSuccess = successLog(logger, server)
  return function logObserver(event) {
    const { call, failed, thrown, outcome } = event
    const hasNewIds = setTraceFacts(call)
    if (!failed) {
      logSuccess(event, hasNewIds)
      return warnOfSvg(event)
    }
    const line: LogLine = { ...sharedFields(event, server, clientOf(call)), ...ownFields(event) }
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
 * Logs calls that succeeded. Most fields are those of the last call of the same target, so their text is made once. To
 * print them all would cost as much as the layers.
 */
function successLog(logger: Logger, server: string | undefined): (event: EndedCall, hasNewIds: boolean) => void {
  const last = new WeakMap<
    Target,
    { readonly shared: LogLine; readonly log: (members: string, time: number) => void }
  >()
  return function logSuccess(event, hasNewIds) {
    const { target } = event.call
    const client = clientOf(event.call)
    if (!logger.repeat) return logger.info({ ...sharedFields(event, server, client), ...ownFields(event) })
    let found = last.get(target)
    if (!found || !isShared(found.shared, event, client)) {
      const shared = sharedFields(event, server, client)
      found = { shared, log: logger.repeat(shared) }
      last.set(target, found)
    }
    const isPlain = hasNewIds && event.call.facts.reference === undefined
    found.log(isPlain ? ownText(event) : membersOf(ownFields(event)), event.receivedAt + event.durationMs)
  }
}

const isShared = (line: LogLine, { call, outcome }: EndedCall, client: ClientInfo): boolean =>
  line['caller'] === callerOf(call) &&
  line['tenant'] === tenantOf(call) &&
  line['client'] === client.name &&
  line['clientVersion'] === client.version &&
  line['method'] === call.method &&
  line['revision'] === call.revision &&
  line['transport'] === call.via.transport &&
  line['outcome'] === outcome

/** Returns the fields that most calls of one target have in common. */
function sharedFields(event: EndedCall, server: string | undefined, client: ClientInfo): LogLine {
  const { call, outcome } = event
  const { kind, name } = call.target
  return {
    event: eventName(event),
    server,
    method: call.method,
    tool: kind === 'tool' ? name : undefined,
    target: kind === 'tool' || kind === 'method' ? undefined : name,
    caller: callerOf(call),
    tenant: tenantOf(call),
    client: client.name,
    clientVersion: client.version,
    revision: call.revision,
    transport: call.via.transport,
    outcome,
  }
}

/** Returns the fields of this call alone, as one literal, so that all lines share a shape. */
function ownFields({ call, receivedAt, durationMs }: EndedCall): LogFields {
  const { id, facts } = call
  return {
    id,
    receivedAt,
    durationMs,
    traceId: facts['traceId'],
    spanId: facts['spanId'],
    reference: facts.reference,
    ...furtherFacts(facts),
  }
}

/** The text of `ownFields` for a call with new ids, which need no escapes. A line then takes half of the time. */
function ownText({ call: { id, facts }, receivedAt, durationMs }: EndedCall): string {
  const further = furtherFacts(facts)
  return (
    `,"id":${typeof id === 'number' ? id : JSON.stringify(id)},"receivedAt":${receivedAt},"durationMs":${durationMs}` +
    `,"traceId":"${facts['traceId']}","spanId":"${facts['spanId']}"${further ? membersOf(further) : ''}`
  )
}

/** Returns the facts that the layers found and no other field of the line shows; `undefined` if there are none. */
function furtherFacts(facts: Facts): LogFields | undefined {
  let further: { [fact: string]: string | number | undefined } | undefined
  for (const fact in facts)
    if (!fieldNames.has(fact)) {
      further ??= {}
      further[fact] = facts[fact]
    }
  return further
}

/** The fields of a line. A fact of the same name must not replace one. */
const fieldNames: ReadonlySet<string> = new Set([
  ...['event', 'server', 'method', 'tool', 'target', 'caller', 'tenant', 'client', 'clientVersion', 'revision'],
  ...['transport', 'outcome', 'id', 'receivedAt', 'durationMs', 'traceId', 'spanId', 'reference'],
])

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
