import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Key } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import { fakeClock } from '../testing/clock.ts'
import { busContract, storeContract } from './contract.ts'
import { compareKeys, isBelow, random } from './contract-keys.ts'
import type { BucketLevel } from './memory.ts'
import { compareEncoded, decodeKey, encodeKey, fullAt, memoryStore, rangeOf, takeToken } from './memory.ts'
import { memoryBus } from './memory-bus.ts'

storeContract('memory', () => {
  const clock = fakeClock(1_800_000_000_000)
  return { store: memoryStore(clock), advance: (ms) => clock.advance(ms), close: async () => {} }
})
busContract('memory', () => ({ bus: memoryBus(), close: async () => {} }))

test('a prefixed store has the same seven verbs', async () => {
  const store = memoryStore(fakeClock())
  const inner = prefixed(store, ['p'])
  expect(await inner.swap(['k'], undefined, '1')).toBe(true)
  const at = await inner.append(['log'], 'x')
  expect(await inner.list(['log'], { limit: 5 })).toEqual([{ key: at, value: 'x' }])
  expect(await inner.list(['log'], { limit: 5, after: at })).toEqual([])
  expect(await inner.take(['b'], { burst: 1, perSecond: 1 })).toBe(0)
  await inner.delete(['k'])
  expect(await store.get(['p', 'k'])).toBeUndefined()
})

/** Characters that separate, escape or sort unusually are as likely as all others together. */
const part = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\0', '\u0001', '\u0002', '\u0003', '\u0004', '\uffff', '\u{10ffff}'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  maxLength: 4,
})
const key: fc.Arbitrary<Key> = fc.array(part, { maxLength: 4 })
const bytes = (text: string): Buffer => Buffer.from(text, 'utf8')

test('an encoded key can be decoded, and sorts like its parts, by code point and by byte', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      const [x, y] = [encodeKey(a), encodeKey(b)]
      expect(decodeKey(x)).toEqual(a)
      const order = Math.sign(compareKeys(a, b))
      expect(Math.sign(compareEncoded(x, y))).toBe(order)
      expect(Buffer.compare(bytes(x), bytes(y))).toBe(order)
    }),
    { numRuns: 3000 },
  )
})

test('the keys below a prefix are exactly one range of encoded keys', () => {
  fc.assert(
    fc.property(key, key, fc.nat(4), (prefix, rest, cut) => {
      for (const other of [[...prefix, ...rest], [...prefix.slice(0, cut), ...rest], rest]) {
        const [from, at, to] = [
          bytes(encodeKey(prefix)),
          bytes(encodeKey(other)),
          bytes(rangeOf(prefix, undefined).end),
        ]
        expect(Buffer.compare(at, from) > 0 && Buffer.compare(at, to) < 0).toBe(isBelow(other, prefix))
      }
    }),
    { numRuns: 3000 },
  )
})

const bucketOf = fc.record({
  burst: fc.integer({ min: 1, max: 20 }),
  perSecond: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0.01, max: 50, noNaN: true })),
})

test('no window of any schedule gets more tokens than capacity and rate allow, and waiting as told is enough', () => {
  fc.assert(
    fc.property(bucketOf, fc.array(fc.nat(5000), { maxLength: 40 }), (bucket, pauses) => {
      let level: BucketLevel | undefined
      let now = 1_800_000_000_000
      const granted: number[] = []
      for (const pause of pauses) {
        now += pause
        const drawn = takeToken(level, bucket, now)
        level = drawn.level
        if (drawn.waitMs === 0) granted.push(now)
        else expect(takeToken(level, bucket, now + drawn.waitMs).waitMs).toBe(0)
        // Deleted when it is full again. The caller must not see a difference.
        if (fullAt(level, bucket) <= now) level = undefined
      }
      for (const [i, from] of granted.entries())
        for (let j = i; j < granted.length; j++)
          expect(j - i + 1).toBeLessThanOrEqual(
            bucket.burst + (((granted[j] ?? from) - from) / 1000) * bucket.perSecond + 1e-3,
          )
    }),
    { numRuns: 10_000 },
  )
})

test('a clock that is set back costs a bucket at most one filling', () => {
  const bucket = { burst: 1, perSecond: 1 }
  const { level } = takeToken(undefined, bucket, 3_600_000)
  const refused = takeToken(level, bucket, 0)
  expect(refused.waitMs).toBe(1000)
  expect(takeToken(refused.level, bucket, 1000).waitMs).toBe(0)
})

test('expired keys and full buckets do not pile up, with and without lists', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const clock = fakeClock()
  const store = memoryStore(clock)
  const heapAfter = async (rounds: number): Promise<number> => {
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 500; i++) {
        await store.set(['k', `${round} ${i}`], `${i}`.repeat(20), 10)
        await store.take(['t', `${round} ${i}`], { burst: 1, perSecond: 100 })
      }
      if (round % 50 === 0) await store.list(['k'], { limit: 1 })
      await clock.advance(10)
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await heapAfter(10)
  expect((await heapAfter(200)) - before).toBeLessThan(5_000_000)
})

test('a list follows all changes of keys, however many there are', async () => {
  const store = memoryStore(fakeClock())
  const model = new Map<string, string>()
  const below = random(5)
  for (let step = 0; step < 3000; step++) {
    const name = String(below(400))
    if (below(3) === 0) {
      model.delete(name)
      await store.delete(['k', name])
    } else {
      model.set(name, String(step))
      await store.set(['k', name], String(step))
    }
    if (below(step < 1000 ? 5 : 150) > 0) continue
    const expected = [...model.keys()].sort().map((key) => ({ key: ['k', key], value: model.get(key) }))
    expect(await store.list(['k'], { limit: 1000 })).toEqual(expected)
  }
})

test('a list passes an expired key once', async () => {
  const clock = fakeClock()
  let read = 0
  const store = memoryStore({
    ...clock,
    now: () => {
      read++
      return clock.now()
    },
  })
  for (let i = 0; i < 1_000; i++) await store.set(['k', String(i)], 'x', 10)
  await store.set(['k', 'last'], 'y')
  await clock.advance(10)
  const reads = async (): Promise<number> => {
    const before = read
    expect(await store.list(['k'], { limit: 1 })).toEqual([{ key: ['k', 'last'], value: 'y' }])
    return read - before
  }
  expect(await reads()).toBeGreaterThan(900)
  expect(await reads()).toBe(1)
})

test('a value that is refused leaves no key behind', async () => {
  const store = memoryStore(fakeClock())
  await expect(store.set(['k'], '\ud800')).rejects.toThrow()
  await store.set(['k'], 'x')
  expect(await store.list([], { limit: 9 })).toEqual([{ key: ['k'], value: 'x' }])
})
