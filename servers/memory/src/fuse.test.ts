import { expect, test } from 'vitest'
import type { Hit } from './archive.ts'
import { fuse } from './fuse.ts'

const hits = (...pieces: readonly (readonly [piece: number, memory: number, score?: number])[]): readonly Hit[] =>
  pieces.map(([piece, memory, score = 1]) => ({ piece, memory, start: 0, end: 1, score }))

test('a hit in both rankings comes before the first hit of one', () => {
  const fused = fuse([hits([1, 1], [2, 2]), hits([3, 3], [2, 2])], 10)
  expect(fused.map(({ memory }) => memory)).toEqual([2, 3, 1])
})

test('the score of a hit that is first in every ranking is 1', () => {
  expect(fuse([hits([1, 1]), hits([1, 1])], 1)[0]?.score).toBeCloseTo(1)
})

test('a memory comes once, by its best chunk', () => {
  const fused = fuse([hits([1, 7, 4], [2, 7, 3], [3, 8, 2])], 10)
  expect(fused.map(({ memory, piece, score }) => [memory, piece, score])).toEqual([
    [7, 1, 1],
    [8, 3, 0.5],
  ])
})

test('an empty ranking does not lower the scores of the other', () => {
  expect(fuse([hits([1, 1, 2], [2, 2, 1]), []], 10).map(({ score }) => score)).toEqual([1, 0.5])
  expect(fuse([[], []], 10)).toEqual([])
})
