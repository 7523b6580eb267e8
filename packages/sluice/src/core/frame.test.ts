import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RpcError } from './error.ts'
import { frame, UnsafeMessage } from './frame.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const reasonOf = (text: string): string => {
  try {
    frame(text)
    return 'accepted'
  } catch (thrown) {
    return thrown instanceof RpcError ? thrown.reason : 'leaked'
  }
}

test('every JSON value is parsed as JSON.parse parses it', () => {
  const plain = fc.json().filter((text) => !/__proto__|\\u|\d{16}/.test(text))
  fc.assert(
    fc.property(plain, (text) => {
      expect(frame(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('only an RpcError is thrown, for any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => reasonOf(text) !== 'leaked'))
})

/** A JSON text, and whether one of its objects names a member twice. */
interface Written {
  readonly text: string
  readonly repeats: boolean
}
const scalar = fc
  .constantFrom('0', '-0', '7', '-12', '10', '100', '1e2', '1000', '1e3', '1.5', '1e21', 'true', 'null', '"x"', '"\\n"')
  .map((text): Written => ({ text, repeats: false }))
const { written } = fc.letrec<{ written: Written }>((tie) => {
  const space = fc.constantFrom('', '', '', ' ')
  const list = fc.tuple(space, fc.array(tie('written'), { maxLength: 4 })).map(([gap, items]) => ({
    text: `[${items.map(({ text }) => text).join(`,${gap}`)}]`,
    repeats: items.some(({ repeats }) => repeats),
  }))
  const object = fc
    .tuple(space, fc.array(fc.tuple(fc.constantFrom('', 'a', 'b', 'long name'), tie('written')), { maxLength: 4 }))
    .map(([gap, members]) => ({
      text: `{${members.map(([name, { text }]) => `"${name}":${gap}${text}`).join(',')}}`,
      repeats:
        new Set(members.map(([name]) => name)).size < members.length || members.some(([, { repeats }]) => repeats),
    }))
  return { written: fc.oneof({ depthSize: 'small' }, scalar, list, object) }
})

test('a message is refused exactly if an object names a member twice, however its values are written', () => {
  fc.assert(
    fc.property(written, ({ text, repeats }) => {
      expect(reasonOf(text)).toBe(repeats ? 'invalidRequest' : 'accepted')
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['{"a":1,"a":2}', 'invalidRequest'],
  ['{"a":{"b":1,"b":1}}', 'invalidRequest'],
  // The exponents save what the second member costs.
  ['[1e3,1e3,1e3,1e3,1e3,{"":7,"":7}]', 'invalidRequest'],
  ['[{"a":1},{"a":1}]', 'accepted'],
  ['{"a\\"b":":","c":"{"}', 'accepted'],
  ['{"a":"\\\\","b":"x"}', 'accepted'],
  [nested(64), 'accepted'],
  [nested(65), 'invalidRequest'],
  [nested(1_000_000), 'invalidRequest'],
  ['['.repeat(65), 'invalidRequest'],
  ['{"text":"[[[[{{{{"}', 'accepted'],
  ['{"a":', 'parseError'],
  ['"unfinished', 'parseError'],
  ['{"a":NaN}', 'parseError'],
  ['{} {}', 'parseError'],
  ['\uFEFF{}', 'parseError'],
  ['{"id":9007199254740993}', 'invalidRequest'],
  ['{"params":{"n":9007199254740993}}', 'invalidParams'],
  ['{"params":{"n":9007199254740991,"f":6.02214076000000000e23,"g":1234567890.123456789012}}', 'accepted'],
  ['{"params":{"n":-9007199254740993}}', 'invalidParams'],
  ['{"n":1e400}', 'invalidParams'],
  ['{"params":{"n":9007199254740993.0}}', 'invalidParams'],
  ['{"params":{"n":9007199254740993e0}}', 'invalidParams'],
  ['{"params":{"n":900719925474099.3E1}}', 'invalidParams'],
  ['{"params":{"n":-9007199254740993.000}}', 'invalidParams'],
  ['{"params":{"n":123456789012345678901234567890e0}}', 'invalidParams'],
  ['{"params":{"n":9007199254740991.4}}', 'invalidParams'],
  ['{"params":{"n":1.00000000000000000001}}', 'invalidParams'],
  [`{"params":{"n":1${'0'.repeat(200)}1e0}}`, 'invalidParams'],
  ['{"id":9007199254740991.4,"method":"ping"}', 'invalidRequest'],
  ['{"id":1.00000000000000000001,"method":"ping"}', 'invalidRequest'],
  ['{"params":{"n":9007199254740991.0,"m":1.5e300,"k":-12.50000000000000000000}}', 'accepted'],
  ['{"params":{"printed with 17 digits":5.9722000000000002e24}}', 'accepted'],
  ['{"params":{"n":0.12345678901234567890123,"underflow":1.0000000000000000e-400}}', 'accepted'],
  ['{"params":{"__proto__":{"admin":true}}}', 'invalidParams'],
  ['{"text":"\\ud800"}', 'invalidParams'],
  ['{"\\udc00":1}', 'invalidParams'],
  ['{"text":"\\ud83d\\ude00"}', 'accepted'],
])('%.60s is %s', (text, expected) => {
  expect(reasonOf(text)).toBe(expected)
})

test('a number of a million digits is refused at once', () => {
  expect(reasonOf(`{"params":{"n":1.${'0'.repeat(1_000_000)}1}}`)).toBe('invalidParams')
  expect(reasonOf(`{"params":{"n":0.${'0'.repeat(1_000_000)}1}}`)).toBe('accepted')
})

test.each([
  ['5,000 empty objects', `[${'{},'.repeat(4_999)}{}]`, 'accepted'],
  ['5,001 empty objects', `[${'{},'.repeat(5_000)}{}]`, 'invalidRequest'],
  ['10,000 numbers', `[${'0,'.repeat(9_999)}0]`, 'accepted'],
  ['10,001 numbers', `[${'0,'.repeat(10_000)}0]`, 'invalidRequest'],
  ['brackets and commas in a string', `"${',[{'.repeat(100_000)}"`, 'accepted'],
])('a message of %s', (_, text, expected) => {
  expect(reasonOf(text)).toBe(expected)
})

test('a message with an unsafe value still has an id for the answer', () => {
  try {
    frame('{"id":7,"params":{"n":1e999}}')
    expect.unreachable()
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(UnsafeMessage)
    expect(thrown instanceof UnsafeMessage && thrown.value).toMatchObject({ id: 7 })
  }
})
