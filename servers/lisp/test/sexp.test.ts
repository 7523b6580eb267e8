import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { print, read, Sym, sym } from '../src/sexp.ts'

describe('messages of Swank are read as data', () => {
  test.each([
    ['(:return (:ok (1 "a b" nil t)) 7)', [sym(':return'), [sym(':ok'), [1, 'a b', [], sym('t')]], 7]],
    ['("a \\"quoted\\" \\\\ text" -3 +4 1.5 2.5d0)', ['a "quoted" \\ text', -3, 4, 1.5, 2.5]],
    ['(a . b)', [sym('a'), sym('.'), sym('b')]],
    ["'(x)", [sym('quote'), [sym('x')]]],
    ['(#\\( |a b| foo\\ bar)', [sym('#\\('), sym('|a b|'), sym('foo\\ bar')]],
    ['NIL', []],
    ['  ( )  ', []],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual(value)
  })
  test.each(['', '(', '("', ')', '(a', '"\\'])('an unterminated text is refused: %j', (text) => {
    expect(() => read(text)).toThrow(SyntaxError)
  })
  test('depth is bounded', () => {
    expect(() => read('('.repeat(100_000))).toThrow('nested too deeply')
  })
  test('reader macros have no effect: they stay names', () => {
    expect(read('#.(delete-file "x")')).toEqual(sym('#.'))
  })
})

test('a printed value is read back unchanged', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'grapheme' }),
      fc.integer(),
      fc.constantFrom(':ok', 'swank:ping', 'cl:car').map((name) => new Sym(name)),
      fc.array(tie('value'), { maxLength: 5 }),
    ),
  })).value
  fc.assert(
    fc.property(value, (each) => {
      expect(read(print(each as never))).toEqual(each)
    }),
    { seed: 7, numRuns: 500 },
  )
})
