/**
 * Logs refusals of messages that never became a call: not JSON, no method, unknown method. They pass no layer, so each
 * plugin is notified separately. The event names are those of docs/documents.md#000.
 */

import type { Logger, LogLine } from '../core/log.ts'
import { newSpanId, newTraceId } from './ids.ts'

export const rejectionLog =
  (logger: Logger, server?: string) =>
  (line: LogLine): void =>
    logger.warn({ ...line, event: nameOf(line), server, traceId: newTraceId(), spanId: newSpanId() })

const names: ReadonlyMap<unknown, string> = new Map([
  ['parseError', 'parse_error'],
  ['methodNotFound', 'method_not_found'],
])
const missing: ReadonlyMap<unknown, string> = new Map([
  ['Invalid request: missing method field', 'missing_method'],
  ['Invalid params: missing tool name', 'missing_tool_name'],
  ['Invalid params: missing arguments', 'missing_arguments'],
])
const nameOf = ({ event, reason, message }: LogLine): string => names.get(reason) ?? missing.get(message) ?? event
