import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './line-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })

test('the diff contains both texts, each in its order', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffLines(before, after)
      const without = (left: string): readonly string[] =>
        diff.filter(({ change }) => change !== left).map(({ text }) => text)
      expect(without('added')).toEqual(before)
      expect(without('removed')).toEqual(after)
    }),
  )
})

test('lines in common are not shown as changed', () => {
  expect(diffLines(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd'])).toEqual([
    { change: 'same', text: 'a' },
    { change: 'removed', text: 'b' },
    { change: 'same', text: 'c' },
    { change: 'added', text: 'x' },
    { change: 'same', text: 'd' },
  ])
})

test('a comparison that would take too long shows all lines', () => {
  const many = (letter: string): readonly string[] => Array.from({ length: 5000 }, (_, at) => `${letter}${at}`)
  const diff = diffLines(many('a'), many('b'))
  expect(diff).toHaveLength(10_000)
  expect(diff.findIndex(({ change }) => change === 'added')).toBe(5000)
})
