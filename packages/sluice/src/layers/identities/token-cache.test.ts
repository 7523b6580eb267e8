import { expect, test } from 'vitest'
import { anonymous } from '../../core/call.ts'
import { fakeClock } from '../../testing/clock.ts'
import { createTokenCache } from './token-cache.ts'

const until = (expires: number) => ({ ...anonymous, subject: 'ann', expires })

test('a token is cached until the earlier of its expiry and the maximum age', async () => {
  const clock = fakeClock()
  const cache = createTokenCache(60_000, clock)
  cache.set('long', until(Number.POSITIVE_INFINITY))
  cache.set('short', until(10_000))
  await clock.advance(9_999)
  expect(cache.get('short')?.subject).toBe('ann')
  await clock.advance(1)
  expect(cache.get('short')).toBeUndefined()
  await clock.advance(49_999)
  expect(cache.get('long')?.subject).toBe('ann')
  await clock.advance(1)
  expect(cache.get('long')).toBeUndefined()
})

test('the cache is bounded, and the oldest token is dropped', () => {
  const cache = createTokenCache(60_000, fakeClock())
  for (let i = 0; i <= 5_000; i++) cache.set(`t${i}`, until(1e9))
  expect([cache.get('t0'), cache.get('t1')?.subject, cache.get('t5000')?.subject]).toEqual([undefined, 'ann', 'ann'])
})

test('a clock that is set back does not keep a token for longer', async () => {
  const clock = fakeClock(1e9)
  const cache = createTokenCache(60_000, clock)
  cache.set('token', until(Number.POSITIVE_INFINITY))
  clock.set(0)
  await clock.advance(60_000)
  expect(cache.get('token')).toBeUndefined()
})
