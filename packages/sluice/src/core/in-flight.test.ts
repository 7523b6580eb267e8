import { expect, test } from 'vitest'
import { InFlight } from './in-flight.ts'

test('values are found by their number until they are deleted', () => {
  const all = new InFlight<string>()
  const ids = Array.from({ length: 500 }, (_, n) => all.add(`value ${n}`))
  expect(all.size).toBe(500)
  expect(ids.map((id) => all.get(id))).toEqual(ids.map((_, n) => `value ${n}`))
  // Some share a bucket: the first, one in the middle and the last of it.
  for (const id of [65, 129, 449, 65]) all.delete(id)
  expect([65, 129, 449].map((id) => all.get(id))).toEqual([undefined, undefined, undefined])
  expect([1, 193, 257, 66].map((id) => all.get(id))).toEqual(['value 0', 'value 192', 'value 256', 'value 65'])
  expect(all.size).toBe(497)
})

test('a number that is not in flight has no value', () => {
  const all = new InFlight<string>()
  all.add('one', 1)
  for (const id of [0, 2, -1, 1.5, 65, Number.NaN]) expect(all.get(id)).toBeUndefined()
})

test('values are listed as they were when the list began', () => {
  const all = new InFlight<number>()
  for (const id of [130, 2, 66, 1]) all.add(id, id)
  const seen: number[] = []
  for (const id of all) {
    seen.push(id)
    all.delete(id)
    all.add(id, id + 1000)
  }
  expect(new Set(seen)).toEqual(new Set([1, 2, 66, 130]))
  expect(all.size).toBe(4)
})
