/**
 * What one peer may take before anybody is known: requests, by a token bucket, and connections. In this process and at
 * once: it must not cost a round trip to the store, which a flood would multiply.
 */

import type { Clock } from '../../core/clock.ts'
import { networkOf } from '../../core/peer.ts'
import type { Bucket } from '../../core/store.ts'

export interface PeerLimiter {
  /** 0: taken. Otherwise milliseconds until it could be. */
  take(peer: string): number
}

interface PeerBucket {
  tokens: number
  updatedAt: number
}

/** Past this, peers that are new share one bucket: memory must not grow with addresses. */
const maxPeers = 65_536
/** How often the full buckets are looked for when there is no room: it takes a while. */
const sweepMs = 1_000

export function createPeerLimiter({ burst, perSecond }: Bucket, clock: Clock, max: number = maxPeers): PeerLimiter {
  if (!(burst >= 1) || !(perSecond > 0))
    throw new TypeError('perPeer: burst must be at least 1 and perSecond more than 0')
  const levels = new Map<string, PeerBucket>()
  const rest: PeerBucket = { tokens: burst, updatedAt: clock.now() }
  let sweptAt = Number.NEGATIVE_INFINITY

  const refill = ({ tokens, updatedAt }: PeerBucket, now: number): number =>
    Math.min(burst, tokens + (Math.max(0, now - updatedAt) / 1000) * perSecond)
  function levelOf(network: string, now: number): PeerBucket {
    const known = levels.get(network)
    if (known) return known
    if (levels.size >= max && Math.abs(now - sweptAt) >= sweepMs) {
      sweptAt = now
      for (const [each, level] of levels) if (refill(level, now) >= burst) levels.delete(each)
    }
    if (levels.size >= max) return rest
    const made = { tokens: burst, updatedAt: now }
    levels.set(network, made)
    return made
  }
  return {
    take(peer) {
      // Not known at the edge, and then one bucket would be everybody's.
      if (peer === '') return 0
      const now = clock.now()
      const level = levelOf(networkOf(peer), now)
      level.tokens = refill(level, now)
      level.updatedAt = now
      if (level.tokens < 1) return Math.ceil(((1 - level.tokens) / perSecond) * 1000)
      level.tokens--
      return 0
    },
  }
}

/** For each new connection: `undefined` if its peer has enough of them, else what to call when it closes. */
export function createConnectionLimiter(
  max: number = Number.POSITIVE_INFINITY,
): (peer: string) => (() => void) | undefined {
  const open = new Map<string, number>()
  return function connect(peer) {
    const network = networkOf(peer)
    const before = open.get(network) ?? 0
    if (before >= max) return undefined
    open.set(network, before + 1)
    let counted = true
    return () => {
      if (!counted) return
      counted = false
      const left = (open.get(network) ?? 0) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    }
  }
}
