/**
 * What one peer may take before anybody is known: requests, by a token bucket, and connections. In this process and at
 * once: it must not cost a round trip to the store, which a flood would multiply.
 */

import type { Clock } from '../../core/clock.ts'
import { networkOf } from '../../core/peer.ts'
import type { Bucket } from '../../core/store.ts'

export interface Peers {
  /** 0: taken. Otherwise milliseconds until it could be. */
  take(peer: string): number
}

interface Level {
  left: number
  at: number
}

/** Past this, peers that are new share one bucket: memory must not grow with addresses. */
const maxPeers = 65_536
/** How often the full buckets are looked for when there is no room: it takes a while. */
const sweepMs = 1_000

export function createPeers({ capacity, perSecond }: Bucket, clock: Clock, max: number = maxPeers): Peers {
  if (!(capacity >= 1) || !(perSecond > 0))
    throw new TypeError('perPeer: capacity must be at least 1 and perSecond more than 0')
  const levels = new Map<string, Level>()
  const rest: Level = { left: capacity, at: clock.now() }
  let sweptAt = Number.NEGATIVE_INFINITY

  const refill = ({ left, at }: Level, now: number): number =>
    Math.min(capacity, left + (Math.max(0, now - at) / 1000) * perSecond)
  function levelOf(network: string, now: number): Level {
    const known = levels.get(network)
    if (known) return known
    if (levels.size >= max && Math.abs(now - sweptAt) >= sweepMs) {
      sweptAt = now
      for (const [each, level] of levels) if (refill(level, now) >= capacity) levels.delete(each)
    }
    if (levels.size >= max) return rest
    const made = { left: capacity, at: now }
    levels.set(network, made)
    return made
  }
  return {
    take(peer) {
      // Not known at the edge, and then one bucket would be everybody's.
      if (peer === '') return 0
      const now = clock.now()
      const level = levelOf(networkOf(peer), now)
      level.left = refill(level, now)
      level.at = now
      if (level.left < 1) return Math.ceil(((1 - level.left) / perSecond) * 1000)
      level.left--
      return 0
    },
  }
}

/** For each new connection: `undefined` if its peer has enough of them, else what to call when it closes. */
export function createConnections(max: number = Number.POSITIVE_INFINITY): (peer: string) => (() => void) | undefined {
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
