import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeClock } from '../testing/clock.ts'
import { createCaches } from './tenant-cache.ts'

test('what is set is there until it expires or is deleted', async () => {
  const clock = fakeClock()
  const cache = createCaches(clock, 100_000).of('a')
  cache.set(['k'], 'v', 100)
  cache.set(['l'], 'w', 1000)
  expect(cache.get(['k'])).toBe('v')
  await clock.advance(100)
  expect(cache.get(['k'])).toBeUndefined()
  cache.delete(['l'])
  expect(cache.get(['l'])).toBeUndefined()
})

test('the same key is another entry for another tenant', () => {
  const caches = createCaches(fakeClock(), 100_000)
  caches.of('a').set(['tool', 'args'], 'of a', 1000)
  expect(caches.of('b').get(['tool', 'args'])).toBeUndefined()
  caches.of('b').delete(['tool', 'args'])
  expect(caches.of('a').get(['tool', 'args'])).toBe('of a')
})

test('a tenant that writes without end pushes out its own entries only', () => {
  const caches = createCaches(fakeClock(), 80_000)
  caches.of('b').set(['k'], 'of b', 1_000_000)
  for (let i = 0; i < 5000; i++) caches.of('a').set([String(i)], 'x'.repeat(100), 1_000_000)
  expect(caches.of('b').get(['k'])).toBe('of b')
  expect(caches.of('a').get(['4999'])).toBeDefined()
  expect(caches.of('a').get(['0'])).toBeUndefined()
})

test('what is too large for one tenant is not kept, nor what it was to replace', () => {
  const caches = createCaches(fakeClock(), 80_000)
  caches.of('a').set(['k'], 'old', 1000)
  caches.of('a').set(['k'], 'x'.repeat(10_001), 1000)
  expect(caches.of('a').get(['k'])).toBeUndefined()
  expect(caches.size).toBe(0)
})

test('past the bound of all, the tenant that wrote longest ago makes room', () => {
  const caches = createCaches(fakeClock(), 20_000)
  for (let i = 0; i < 100; i++) {
    caches.of(String(i)).set(['k'], 'x'.repeat(2000), 1000)
    // One that goes on writing is not the one to make room, however long ago it began.
    caches.of('0').set(['small'], 'x', 1000)
    expect(caches.size).toBeLessThanOrEqual(20_000)
  }
  const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => caches.of(String(i)).get(['k']) !== undefined)
  expect(kept).toEqual([0, 92, 93, 94, 95, 96, 97, 98, 99])
})

test('whatever is written by however many, the whole stays within its bound and is counted right', () => {
  const write = fc.record({ tenant: fc.nat(40), key: fc.nat(5), size: fc.nat(3000), erase: fc.boolean() })
  fc.assert(
    fc.property(fc.array(write, { maxLength: 200 }), (writes) => {
      const caches = createCaches(fakeClock(), 20_000)
      for (const { tenant, key, size, erase } of writes) {
        const cache = caches.of(String(tenant))
        if (erase) cache.delete([String(key)])
        else cache.set([String(key)], 'x'.repeat(size), 1000)
        expect(caches.size).toBeLessThanOrEqual(20_000)
      }
      for (let tenant = 0; tenant <= 40; tenant++)
        for (let key = 0; key <= 5; key++) caches.of(String(tenant)).delete([String(key)])
      expect(caches.size).toBe(0)
    }),
  )
})
