/**
 * Limits one peer before authentication: its requests, by a token bucket, and its connections. The limits are per
 * process and synchronous, because a round trip to the store would be multiplied by a flood.
 */

import type { Clock } from '../../core/clock.ts'
import { Counts } from '../../core/counts.ts'
import { networkOf } from '../../core/peer.ts'
import type { Bucket } from '../../core/store.ts'

export interface PeerLimiter {
  /** Takes a token. Returns 0, or the milliseconds until a token is available. */
  take(peer: string): number
}

interface PeerBucket {
  tokens: number
  updatedAt: number
}

/** Above this number, new peers share one bucket, so that memory does not grow with addresses. */
const maxPeers = 65_536
/** How often full buckets are removed when there is no room. Not more often, because it takes a while. */
const sweepMs = 1_000

export function createPeerLimiter({ burst, perSecond }: Bucket, clock: Clock, max: number = maxPeers): PeerLimiter {
  if (!(burst >= 1) || !(perSecond > 0))
    throw new TypeError('"perPeer": "burst" must be at least 1 and "perSecond" more than 0')
  const buckets = new Map<string, PeerBucket>()
  const overflow: PeerBucket = { tokens: burst, updatedAt: clock.now() }
  let sweptAt = Number.NEGATIVE_INFINITY

  const refill = ({ tokens, updatedAt }: PeerBucket, now: number): number =>
    Math.min(burst, tokens + (Math.max(0, now - updatedAt) / 1000) * perSecond)
  function bucketOf(network: string, now: number): PeerBucket {
    const known = buckets.get(network)
    if (known) return known
    if (buckets.size >= max && Math.abs(now - sweptAt) >= sweepMs) {
      sweptAt = now
      for (const [each, bucket] of buckets) if (refill(bucket, now) >= burst) buckets.delete(each)
    }
    if (buckets.size >= max) return overflow
    const created = { tokens: burst, updatedAt: now }
    buckets.set(network, created)
    return created
  }
  return {
    take(peer) {
      // The peer is not known on the edge. Otherwise all clients there would share one bucket.
      if (peer === '') return 0
      const now = clock.now()
      const bucket = bucketOf(networkOf(peer), now)
      bucket.tokens = refill(bucket, now)
      bucket.updatedAt = now
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1000)
      bucket.tokens--
      return 0
    },
  }
}

/**
 * Counts connections per peer. The function it returns admits one: `undefined` if the peer has too many, otherwise a
 * function to call when it closes.
 */
export function createConnectionLimiter(
  max: number = Number.POSITIVE_INFINITY,
): (peer: string) => (() => void) | undefined {
  const open = new Counts<string>()
  return function connect(peer) {
    const network = networkOf(peer)
    if (open.get(network) >= max) return undefined
    open.add(network, 1)
    let counted = true
    return () => {
      if (counted) open.add(network, -1)
      counted = false
    }
  }
}
