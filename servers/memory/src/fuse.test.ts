import { expect, test } from 'vitest'
import type { Hit } from './archive.ts'
import { fuse } from './fuse.ts'

const hits = (...pieces: readonly (readonly [piece: number, memory: number])[]): readonly Hit[] =>
  pieces.map(([piece, memory], at) => ({ piece, memory, start: 0, end: 1, score: 9 - at }))

test('a hit in both rankings comes before the first hit of one', () => {
  const fused = fuse([hits([1, 1], [2, 2]), hits([3, 3], [2, 2])], 10)
  expect(fused.map(({ memory }) => memory)).toEqual([2, 3, 1])
})

test('a memory comes once, by its best chunk', () => {
  const fused = fuse([hits([1, 7], [2, 7], [3, 8])], 10)
  expect(fused).toEqual([
    { memory: 7, piece: 1, start: 0, end: 1 },
    { memory: 8, piece: 3, start: 0, end: 1 },
  ])
})

test('an empty ranking does not change the order of the other', () => {
  expect(fuse([hits([1, 1], [2, 2]), []], 10).map(({ memory }) => memory)).toEqual([1, 2])
  expect(fuse([[], []], 10)).toEqual([])
})
