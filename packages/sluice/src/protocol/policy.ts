/** The scopes and the timeout of a definition, with safe defaults. */

import type { Policy } from '../core/target.ts'

export interface PolicyDefinition {
  readonly scopes?: readonly string[]
  readonly listed?: boolean
  readonly timeoutMs?: number
}

/** Timers fire at once for a longer wait, so the call would end before it began. */
const maxTimeoutMs = 2 ** 31 - 1
const defaultTimeoutMs = 30_000

export function policyOf(
  { scopes = [], listed = false, timeoutMs: timeout }: PolicyDefinition,
  where: string,
  more: { readonly approval?: Policy['approval']; readonly readOnly: boolean },
): Policy {
  const timeoutMs = timeout ?? defaultTimeoutMs
  if (!(timeoutMs > 0) || (timeoutMs > maxTimeoutMs && timeoutMs !== Number.POSITIVE_INFINITY))
    throw new TypeError(`${where}: "timeoutMs" must be more than 0 and at most ${maxTimeoutMs}, or Infinity`)
  return { scopes, listed, approval: 'never', timeoutMs, ownTimeout: timeout !== undefined, ...more }
}
