/**
 * Refusals of what never became a call: not JSON, no method, no such method. They pass no layer, so this stands in front
 * of the logger they are told to: it gives them the names of document 000 and counts them.
 */

import type { Logger, LogLine } from '../core/log.ts'

/** `count` hears every one of them; `metrics.refused` is made for it. */
export const refusals = (logger: Logger, count?: (reason: string) => void): Logger => ({
  info: (line) => logger.info(line),
  warn(line) {
    if (line.event !== 'refused') return logger.warn(line)
    count?.(String(line['reason']))
    logger.warn({ ...line, event: nameOf(line) })
  },
  error: (line) => logger.error(line),
})

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
