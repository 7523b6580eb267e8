/**
 * A cache of verified callers. Checking a signature costs more than all layers together, so it happens once per token
 * and minute instead of once per call.
 */

import type { Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'

export interface TokenCache {
  get(token: string): Caller | undefined
  set(token: string, caller: Caller): void
  /** Removes the callers of this credential, so that they are verified again. */
  delete(credential: string): void
}

/** Maximum number of tokens. The oldest is dropped. Only valid tokens get in, so strangers cannot displace any. */
const maxTokens = 5_000

/**
 * Caches by the token itself, because a hash would be computed on every call. `maxAgeMs` is how long a revoked token is
 * still accepted; expiry applies to the millisecond.
 */
export function createTokenCache(maxAgeMs: number, clock: Clock): TokenCache {
  const entries = new Map<string, { readonly caller: Caller; readonly until: number }>()
  return {
    get(token) {
      const entry = entries.get(token)
      if (!entry) return undefined
      if (entry.until > monotonicNow(clock) && entry.caller.expires > clock.now()) return entry.caller
      entries.delete(token)
      return undefined
    },
    set(token, caller) {
      if (entries.size >= maxTokens) for (const oldest of entries.keys()) if (entries.delete(oldest)) break
      entries.set(token, { caller, until: monotonicNow(clock) + maxAgeMs })
    },
    delete(credential) {
      for (const [token, { caller }] of entries) if (caller.credential === credential) entries.delete(token)
    },
  }
}
