import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RpcError } from './error.ts'
import { frame, Unsound } from './frame.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const reasonOf = (text: string): string => {
  try {
    frame(text)
    return 'accepted'
  } catch (thrown) {
    return thrown instanceof RpcError ? thrown.reason : 'leaked'
  }
}

test('every JSON value comes back as JSON.parse gives it', () => {
  const plain = fc.json().filter((text) => !/__proto__|\\u|\d{16}/.test(text))
  fc.assert(
    fc.property(plain, (text) => {
      expect(frame(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('whatever the text, only an RpcError is thrown', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => reasonOf(text) !== 'leaked'))
})

test.each([
  ['{"a":1,"a":2}', 'invalidRequest'],
  ['{"a":{"b":1,"b":1}}', 'invalidRequest'],
  ['[{"a":1},{"a":1}]', 'accepted'],
  ['{"a\\"b":":","c":"{"}', 'accepted'],
  ['{"a":"\\\\","b":"x"}', 'accepted'],
  [nested(64), 'accepted'],
  [nested(65), 'invalidRequest'],
  [nested(1_000_000), 'invalidRequest'],
  ['{"text":"[[[[{{{{"}', 'accepted'],
  ['{"a":', 'parseError'],
  ['"unfinished', 'parseError'],
  ['{"a":NaN}', 'parseError'],
  ['{} {}', 'parseError'],
  ['\uFEFF{}', 'parseError'],
  ['{"id":9007199254740993}', 'invalidRequest'],
  ['{"params":{"n":9007199254740993}}', 'invalidParams'],
  ['{"params":{"n":9007199254740991,"f":6.02214076000000000e23,"g":1234567890.123456789012}}', 'accepted'],
  ['{"n":-9007199254740993}', 'invalidParams'],
  ['{"n":1e400}', 'invalidParams'],
  ['{"params":{"__proto__":{"admin":true}}}', 'invalidParams'],
  ['{"text":"\\ud800"}', 'invalidParams'],
  ['{"\\udc00":1}', 'invalidParams'],
  ['{"text":"\\ud83d\\ude00"}', 'accepted'],
])('%.60s is %s', (text, expected) => {
  expect(reasonOf(text)).toBe(expected)
})

test('a message with a value nobody should act on still has an id to answer to', () => {
  try {
    frame('{"id":7,"params":{"n":1e999}}')
    expect.unreachable()
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Unsound)
    expect(thrown instanceof Unsound && thrown.value).toMatchObject({ id: 7 })
  }
})
