import { expect, test } from 'vitest'
import { newErrorId, uniqueId } from './unique-id.ts'

test('ids have a fixed length and do not repeat', () => {
  const ids = Array.from({ length: 10_000 }, uniqueId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[\da-f]{24}$/.test(id))).toEqual([])
})

test('ids of failures are short, and do not repeat in ten thousand', () => {
  const ids = Array.from({ length: 10_000 }, newErrorId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}$/.test(id))).toEqual([])
})
