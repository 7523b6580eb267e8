/** A workspace whose verbs throw what a client may read when the file is locked, damaged, full or away. */

import type { RetryWhileBusy } from 'sluice/sqlite'
import { createRetry } from 'sluice/sqlite'

/** Reads that meet a lock are tried again; what writes does so by itself, and has changed nothing when it meets one. */
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
