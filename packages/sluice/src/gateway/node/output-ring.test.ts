import { expect, test } from 'vitest'
import { createOutputRing } from './output-ring.ts'

test('lines that arrive in pieces are joined', () => {
  const ring = createOutputRing()
  for (const piece of ['one\ntw', 'o\n', 'thr', 'ee']) ring.write(piece)
  expect(ring.lines()).toEqual(['one', 'two', 'three'])
})

test('only the last 100 lines are kept, each cut to 500 characters', () => {
  const ring = createOutputRing()
  for (let line = 0; line < 1000; line++) ring.write(`${line}\n`)
  expect(ring.lines()).toHaveLength(100)
  expect(ring.lines()[0]).toBe('900')
  ring.write(`${'x'.repeat(10_000)}\n`)
  expect(ring.lines().at(-1)).toHaveLength(500)
})

test('a line without end is bounded', () => {
  const ring = createOutputRing()
  for (let piece = 0; piece < 1000; piece++) ring.write('x'.repeat(1000))
  expect(ring.lines()).toEqual(['x'.repeat(500)])
})
