import { expect, test } from 'vitest'
import { below } from '../core/store.ts'
import { fakeClock } from '../testing/clock.ts'
import { memoryStore } from './memory.ts'

const make = () => {
  const clock = fakeClock()
  return { clock, store: memoryStore(clock) }
}

test('what is set is there until it expires or is deleted', async () => {
  const { clock, store } = make()
  await store.set(['a'], '1', 100)
  await store.set(['b'], '2')
  expect(await store.get(['a'])).toBe('1')
  await clock.advance(100)
  expect(await store.get(['a'])).toBeUndefined()
  expect(await store.get(['b'])).toBe('2')
  await store.delete(['b'])
  expect(await store.get(['b'])).toBeUndefined()
})

test('of many swaps from the same value one wins', async () => {
  const { store } = make()
  const wins = await Promise.all(Array.from({ length: 50 }, (_, i) => store.swap(['k'], undefined, String(i))))
  expect(wins.filter(Boolean)).toHaveLength(1)
  expect(await store.swap(['k'], 'something else', 'x')).toBe(false)
  expect(await store.swap(['k'], await store.get(['k']), 'x', 10)).toBe(true)
})

test('a bucket gives its capacity at once and then its rate', async () => {
  const { clock, store } = make()
  const bucket = { capacity: 2, perSecond: 4 }
  expect([await store.take(['k'], bucket), await store.take(['k'], bucket)]).toEqual([0, 0])
  expect(await store.take(['k'], bucket)).toBe(250)
  await clock.advance(250)
  expect(await store.take(['k'], bucket)).toBe(0)
  expect(await store.take(['other'], bucket)).toBe(0)
})

test('a log comes back in the order it was written, a page at a time', async () => {
  const { store } = make()
  for (let i = 0; i < 25; i++) await store.append(['log'], String(i))
  await store.set(['logs', 'other'], 'not below')
  const first = await store.list(['log'], { limit: 10 })
  expect(first.map(({ value }) => value)).toEqual(Array.from({ length: 10 }, (_, i) => String(i)))
  const last = first.at(-1)
  const rest = await store.list(['log'], { limit: 100, ...(last && { after: last.key }) })
  expect(rest.map(({ value }) => value)).toEqual(Array.from({ length: 15 }, (_, i) => String(i + 10)))
})

test('keys are parts: no choice of names reaches below another prefix', async () => {
  const { store } = make()
  const [a, ab] = [below(store, ['tenant', 'a']), below(store, ['tenant', 'a","b'])]
  await a.set(['b', 'k'], 'of a')
  await ab.set(['k'], 'of ab')
  expect(await a.get(['b', 'k'])).toBe('of a')
  expect(await ab.get(['k'])).toBe('of ab')
  expect((await a.list([], { limit: 10 })).map(({ key }) => key)).toEqual([['b', 'k']])
})

test('a store below a prefix is the same seven verbs', async () => {
  const { store } = make()
  const inner = below(store, ['p'])
  expect(await inner.swap(['k'], undefined, '1')).toBe(true)
  const at = await inner.append(['log'], 'x')
  expect(await inner.list(['log'], { limit: 5 })).toEqual([{ key: at, value: 'x' }])
  expect(await inner.list(['log'], { limit: 5, after: at })).toEqual([])
  expect(await inner.take(['b'], { capacity: 1, perSecond: 1 })).toBe(0)
  await inner.delete(['k'])
  expect(await store.get(['p', 'k'])).toBeUndefined()
})

test('expired keys and full buckets do not pile up', async () => {
  const { clock, store } = make()
  for (let i = 0; i < 1000; i++) {
    await store.set(['k', String(i)], 'x', 10)
    await store.take(['t', String(i)], { capacity: 1, perSecond: 1 })
  }
  await clock.advance(10_000)
  for (let i = 0; i < 1024; i++) await store.set(['one'], 'x')
  expect(await store.list([], { limit: 10 })).toHaveLength(1)
})
