import { describe, expect, test } from 'vitest'
import { jsonSchema } from './index.ts'
import { link } from './link.ts'
import { faultIn } from './patterns.ts'
import { walk } from './walk.ts'

test.each([
  '^(a+)+$',
  '(a*)*',
  '([a-z]+)*$',
  '(\\w+\\s?)*',
  '^(?:\\d{1,3})+$',
  '(?<n>x+y*)+z',
  '((a|b+)c?)+',
  '(.*){20}',
  '(-?\\d+)*',
])('the pattern %s is refused, since it may run for years', (pattern) => {
  expect(faultIn(pattern)).toContain('repeats a repetition')
  expect(() => link({ patternProperties: { [pattern]: true } })).toThrow('repeats a repetition')
})

test.each([
  '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  '^\\d{1,3}(\\.\\d{1,3}){3}$',
  '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$',
  '^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$',
  '^[(+)*]+$',
  '\\(a+\\)+',
])('the pattern %s is taken', (pattern) => {
  expect(faultIn(pattern)).toBeUndefined()
})

test.each([
  ['does not compile', '(', 'the pattern "(" is no regular expression'],
  ['is not Unicode', '\\-', 'is no regular expression'],
  ['is very long', 'a'.repeat(3_000), 'is longer than 2048'],
])('a pattern that %s is refused', (_, pattern, fault) => {
  expect(faultIn(pattern)).toContain(fault)
})

describe.each([
  ['compiled code', (schema: object) => (value: unknown) => jsonSchema(schema)['~standard'].validate(value).issues],
  ['the walk', (schema: object) => walk(link(schema))],
] as const)('in %s', (_, build) => {
  test('a pattern that is not plainly linear only meets short strings', () => {
    const short = build({ pattern: '^(?:ab)+$' })
    expect(short('ab'.repeat(2_048))).toBeUndefined()
    expect(short('ab'.repeat(2_049))).toHaveLength(1)
    expect(build({ pattern: '^[A-Za-z0-9+/]*={0,2}$' })('A'.repeat(1_000_000))).toBeUndefined()
    const names = build({ patternProperties: { '^(?:ab)+$': true }, additionalProperties: true })
    expect(names({ ['ab'.repeat(3_000)]: 1 })).toHaveLength(1)
  })

  test('nor does a string that is too long for a pattern pass where the pattern is not to match', () => {
    const issuesOf = build({ not: { pattern: '^(?:ab)+$' } })
    expect(issuesOf('ab')).toHaveLength(1)
    expect(issuesOf('ab'.repeat(2_049))).toHaveLength(1)
  })
})
