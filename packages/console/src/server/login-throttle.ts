/**
 * Throttles guesses at links, keys and signatures, per peer. It is asked only after a wrong one. Otherwise strangers
 * could lock everyone out, because behind a proxy all have one address.
 */

import type { Store } from 'sluice'
import { RpcError } from 'sluice'
import type { Bucket } from 'sluice/internal'
import { networkOf } from 'sluice/internal'

/** The bucket for wrong credentials. Valid ones take nothing from it. */
export const wrongCredentialBucket: Bucket = { burst: 20, perSecond: 0.2 }

export async function throttleAttempt(consoleStore: Store, kind: string, peer: string, bucket: Bucket): Promise<void> {
  const waitMs = await consoleStore.take([kind, networkOf(peer)], bucket)
  if (waitMs > 0)
    throw new RpcError('rateLimited', 'Too many attempts: wait, then try again', { data: { retryAfterMs: waitMs } })
}
