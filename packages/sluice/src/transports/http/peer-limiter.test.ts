import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/clock.ts'
import { createPeerLimiter } from './peer-limiter.ts'

const bucket = { burst: 1, perSecond: 1 }

test('above the limit new peers share one bucket, and full buckets make room', async () => {
  const clock = fakeClock()
  const peers = createPeerLimiter(bucket, clock, 2)
  expect(['a', 'b', 'c', 'd'].map((peer) => peers.take(peer))).toEqual([0, 0, 0, 1000])
  await clock.advance(1000)
  expect(['c', 'd', 'e', 'f'].map((peer) => peers.take(peer))).toEqual([0, 0, 0, 1000])
})

test('a clock that is set back locks no peer out', () => {
  let now = 1_000_000
  const peers = createPeerLimiter(bucket, { now: () => now, after: () => () => {} })
  peers.take('a')
  now = 0
  expect(peers.take('a')).toBe(1000)
  now = 1000
  expect(peers.take('a')).toBe(0)
})

test.each([
  { burst: 0, perSecond: 1 },
  { burst: 1, perSecond: 0 },
])('%o is invalid', (wrong) => {
  expect(() => createPeerLimiter(wrong, fakeClock())).toThrow(TypeError)
})
