import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'
import type { Pattern } from './pattern.ts'
import { maxPatternSteps, patternProblem, toPattern } from './pattern.ts'

const compiled = (source: string): Pattern => toPattern(source, { remaining: maxPatternSteps })

/** Patterns on which a backtracking engine runs for seconds or for ever, each with a text that shows it. */
const slow: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
  ['^(a|a)*$', `${'a'.repeat(10_000)}!`, false],
  ['^(a|aa)+$', `${'a'.repeat(10_000)}!`, false],
  ['^(.*a){12}$', `${'a'.repeat(5_000)}!`, false],
  ['a*a*a*a*a*b', 'a'.repeat(20_000), false],
  ['^(a+)+$', `${'a'.repeat(10_000)}!`, false],
  ['(a*)*c', 'a'.repeat(20_000), false],
  ['([a-z]+)*$', `${'a'.repeat(10_000)}!`, true],
  ['^(\\w+\\s?)*$', `${'word '.repeat(2_000)}!`, false],
  ['^(?:\\d{1,3})+$', `${'1'.repeat(10_000)}x`, false],
  ['(?<n>x+y*)+z', 'x'.repeat(10_000), false],
  ['^((a|b+)c?)+$', `${'ab'.repeat(5_000)}!`, false],
  [
    '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
    'a'.repeat(10_000),
    false,
  ],
  ['^(?=(a+)+b)', 'a'.repeat(10_000), false],
  ['^(?!(a|aa)+$)', `${'a'.repeat(10_000)}!`, true],
  ['\\s+$', `${' '.repeat(20_000)}x`, false],
  ['^(([^<>()[\\]\\.,;:\\s@"]+(\\.[^<>()[\\]\\.,;:\\s@"]+)*)|(".+"))@x$', 'a.'.repeat(5_000), false],
]

test.each(slow)('the pattern %s is tested at once', (pattern, text, matches) => {
  expect(patternProblem(pattern)).toBeUndefined()
  expect(compiled(pattern).test(text)).toBe(matches)
})

test.each([
  ['^[a-z0-9]+(?:-[a-z0-9]+)*$', 'a-b-c', 'a--b'],
  [
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    'a.b@c.de',
    'a..b@c.de',
  ],
  ['^\\d{1,3}(\\.\\d{1,3}){3}$', '127.0.0.1', '127.0.0'],
  ['^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$', '-1.5e+3', '1.'],
  ['^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$', '00:11:22:33:44:ff', '00:11:22:33:44'],
  ['^[(+)*\\]]+$', '(+]', 'a'],
  ['\\(a+\\)+', '(aa)', 'a'],
  ['\\bword\\b', 'a word.', 'swords'],
  ['a\\Bb', 'ab', 'a b'],
  ['^\\p{L}\\u{1F44B}\\ud83d\\ude00$', 'ä👋😀', 'ä👋'],
  ['^.$', '👋', '\n'],
  ['^\\x41\\cJ\\0[\\]\\b]$', 'A\n\0]', 'A'],
  ['^(?:)$', '', 'a'],
  ['x{0}y', 'y', 'x'],
])('the pattern %s matches %j and not %j', (pattern, match, other) => {
  expect([match, other].map((text) => compiled(pattern).test(text))).toEqual([true, false])
})

test('patterns match as JavaScript’s do', () => {
  // Without surrogate pairs, because V8 tries a lookahead between the two halves of one, unlike the standard.
  const atom = fc.constantFrom('a', 'b', '.', '\\d', '[ab]', '[^a]', '\\w', '\\b', '\\B', '^', '$', '1', ' ')
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?')
  const isAssertion = (text: string): boolean => /^(?:\^|\$|\\b|\\B|\(\?[=!].*)$/i.test(text)
  const pattern = fc.letrec<{ pattern: string; term: string }>((tie) => ({
    term: fc
      .tuple(
        fc.oneof(
          { maxDepth: 3, withCrossShrink: true },
          atom,
          tie('pattern').map((inner) => `(${inner})`),
          tie('pattern').map((inner) => `(?:${inner})`),
          tie('pattern').map((inner) => `(?=${inner})`),
          tie('pattern').map((inner) => `(?!${inner})`),
        ),
        quantifier,
      )
      .map(([unit, count]) => (isAssertion(unit) ? unit : unit + count)),
    pattern: fc
      .array(fc.array(tie('term'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
      .map((alternatives) => alternatives.map((terms) => terms.join('')).join('|')),
  })).pattern
  const text = fc.array(fc.constantFrom('a', 'b', '1', ' ', '\n'), { maxLength: 7 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      const expected = new RegExp(source, 'u')
      for (const each of texts) expect(compiled(source).test(each)).toBe(expected.test(each))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['does not compile', '(', 'the pattern "(" is not a regular expression'],
  ['is not Unicode', '\\-', 'is not a regular expression'],
  ['is very long', 'a'.repeat(3_000), 'is longer than 2048'],
  ['refers back', '^(a)\\1$', 'uses a back reference'],
  ['refers back by name', '^(?<n>a)\\k<n>$', 'uses a back reference'],
  ['looks behind', '(?<=a)b', 'uses a lookbehind'],
  ['looks behind for nothing', '(?<!a)b', 'uses a lookbehind'],
  ['repeats a repetition many times', '((a{99}){99}){99}', 'uses more than 5000 repetitions'],
])('a pattern that %s is refused', (_, pattern, problem) => {
  expect(patternProblem(pattern)).toContain(problem)
  expect(() => jsonSchema({ patternProperties: { [pattern]: true } })['~standard'].validate({})).toThrow(problem)
})

test('a string that is too long for a pattern passes neither the pattern nor its opposite', () => {
  const long = 'ab'.repeat(500_000)
  const issuesOf = (schema: object) => jsonSchema(schema)['~standard'].validate(long).issues
  expect(issuesOf({ pattern: '^(?:ab|a|b){1,900}$' })).toHaveLength(1)
  expect(issuesOf({ not: { pattern: '^(?:ab|a|b){1,900}$' } })).toHaveLength(1)
  expect(issuesOf({ pattern: '^[a-z]' })).toBeUndefined()
})

test('the strings of one value share the steps, and the next value has its own', () => {
  const { validate } = jsonSchema({ items: { pattern: '^([a-z0-9-]{1,63}\\.)+[a-z]{2,63}$' } })['~standard']
  const names = (count: number): string[] => Array.from({ length: count }, () => `${'a.'.repeat(55)}aa`)
  // 9000 such names fit into a message of 1 MB. Without the limit they take seven seconds.
  expect(validate(names(9_000)).issues?.[0]?.message).toMatch(/too large/)
  expect(validate(names(100)).issues).toBeUndefined()
})
