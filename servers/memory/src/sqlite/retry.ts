/**
 * Wraps a workspace so that its errors are readable for a client if the file is locked, damaged, full or unavailable.
 */

import type { RetryWhileBusy } from 'sluice/sqlite'
import { createRetry } from 'sluice/sqlite'

/** Retries reads that hit a lock. Writes retry by themselves, and have changed nothing when they hit one. */
export function retryWhenBusy<T extends object>(verbs: T): T {
  const retry = createRetry()
  const wrapped = Object.entries(verbs).map(([name, verb]) => [
    name,
    typeof verb === 'function' ? withRetry(verb, retry) : verb,
  ])
  return Object.fromEntries(wrapped) as T
}

const withRetry =
  (verb: (...args: never[]) => unknown, retry: RetryWhileBusy) =>
  (...args: never[]): Promise<unknown> =>
    retry(() => verb(...args))
