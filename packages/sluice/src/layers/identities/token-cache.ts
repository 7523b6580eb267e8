/**
 * Callers already vouched for. Checking a signature costs more than all layers together, so it is done once per token
 * and minute, not once per call.
 */

import type { Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'

export interface TokenCache {
  get(token: string): Caller | undefined
  set(token: string, caller: Caller): void
  /** Whoever came by this one is asked for anew. */
  delete(credential: string): void
}

/** Past that the oldest goes. Only tokens that were good get in, so strangers cannot push anybody out. */
const maxTokens = 5_000

/**
 * Under the token itself: a hash would be computed on every call. `maxAgeMs` is how long a revoked token is still
 * believed; expiry is honoured to the millisecond.
 */
export function createTokenCache(maxAgeMs: number, clock: Clock): TokenCache {
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  return {
    get(token) {
      const entry = known.get(token)
      if (!entry) return undefined
      if (entry.until > monotonicNow(clock) && entry.caller.expires > clock.now()) return entry.caller
      known.delete(token)
      return undefined
    },
    set(token, caller) {
      if (known.size >= maxTokens) for (const oldest of known.keys()) if (known.delete(oldest)) break
      known.set(token, { caller, until: monotonicNow(clock) + maxAgeMs })
    },
    delete(credential) {
      for (const [token, { caller }] of known) if (caller.credential === credential) known.delete(token)
    },
  }
}
