/** Tells failures of the agreement from others: the session is lost, or the server speaks another era. */

import { ClientError, ServerError } from './errors.ts'
import type { ServerAgreement } from './negotiate.ts'

/** Refusals of 2026-07-28 that say nothing about the era. */
const modernRefusals = new Set([-32700, -32601, -32602, -32603, -32020, -32021])
const unsupportedVersion = -32022

/** Whether the request was refused unread, in a way that a new agreement could change. */
export function needsNewAgreement(thrown: unknown, { era }: ServerAgreement): boolean {
  if (thrown instanceof ClientError)
    return (
      thrown.reason === 'session' || (thrown.reason === 'status' && [400, 404, 405, 406].includes(thrown.status ?? 0))
    )
  if (!(thrown instanceof ServerError)) return false
  if (thrown.code === unsupportedVersion) return true
  return thrown.status === 400 && (era === 'legacy' || !modernRefusals.has(thrown.code))
}
