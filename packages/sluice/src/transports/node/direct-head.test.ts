import { expect, test } from 'vitest'
import { parseDirectHead } from './direct-head.ts'

const headWith = (line: string): string => `POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n${line}\r\n\r\n`

test.each([
  ['x: a', 'a'],
  ['x:a', 'a'],
  ['x: \t a b  ', 'a b'],
  ['x:', ''],
  ['x: \t ', ''],
])('the value of %j is %j', (line, value) => {
  expect(parseDirectHead(headWith(line))?.headers.get('x')).toBe(value)
})

test('a long line is refused in linear time', () => {
  // Takes about a millisecond. A parser that tries all divisions of the spaces would need minutes.
  for (const space of [' ', '\t', ' \t'])
    expect(parseDirectHead(headWith(`x:${space.repeat(400_000)}\u0001`))).toBeUndefined()
})
