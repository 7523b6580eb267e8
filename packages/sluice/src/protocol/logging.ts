/**
 * Log messages to the client: a level per connection before 2026-07-28, a level per request from then on.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */

import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import { metaKeys, modernRevision } from './revisions.ts'

export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const levels: readonly string[] = logLevels
export type LogLevel = (typeof logLevels)[number]

export function parseLogLevel(level: unknown): LogLevel {
  const known = logLevels.find((name) => name === level)
  if (!known) throw invalidParams(`level must be one of ${logLevels.join(', ')}`)
  return known
}

/** Returns the requested level. On 2026-07-28 a request that names no level gets no messages. */
const requestedLevel = (call: Call): unknown =>
  call.revision === modernRevision ? call.meta[metaKeys.logLevel] : (call.via.connection?.state.logLevel ?? 'info')

export const clientLog =
  (call: Call) =>
  (level: LogLevel, data: unknown, logger?: string): void => {
    const minimum = levels.indexOf(String(requestedLevel(call)))
    if (minimum === -1 || levels.indexOf(level) < minimum) return
    call.notify('notifications/message', { level, data: toSendable(data), logger })
  }

/**
 * Returns the data, or its type if JSON cannot hold it. Otherwise a log message would fail the work, and only for
 * clients that requested its level.
 */
function toSendable(data: unknown): unknown {
  try {
    if (JSON.stringify(data) !== undefined) return data
  } catch {
    // A BigInt, a cycle, or a member that throws.
  }
  return `[${typeof data}]`
}
