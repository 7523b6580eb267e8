import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'
import { parse } from './parse.ts'
import { resolveRefs } from './resolve-refs.ts'

test.each<readonly [string, object, string]>([
  ['$ref to itself', { $ref: '#' }, 'refers to itself for the same value'],
  [
    '$ref in a cycle for the same value',
    { anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#' } } } },
    'refers to itself',
  ],
  ['10,001 subschemas', { anyOf: Array.from({ length: 10_000 }, () => ({})) }, 'more than 10000 subschemas'],
  [
    '101 references in a row',
    {
      $ref: '#/$defs/d0',
      $defs: {
        ...Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }])),
        d101: true,
      },
    },
    'refers to itself for the same value, or to too many schemas',
  ],
])('%s is refused', (_name, schema, problem) => {
  expect(() => jsonSchema(schema as object)['~standard'].validate(1)).toThrow(problem)
})

test('10,000 subschemas are still accepted', () => {
  const properties = Object.fromEntries(Array.from({ length: 9_999 }, (_, n) => [`p${n}`, { type: 'string' }]))
  expect(jsonSchema({ properties })['~standard'].validate({ p9998: 1 })).toEqual({
    issues: [{ message: 'must be a string', path: ['p9998'] }],
  })
})

test('a reference stands alone, under a name that is in the map', () => {
  const document = { title: 'A', $ref: '#/$defs/n', minimum: 1, $defs: { n: { type: 'number' }, m: {} } }
  const { root, schemas } = resolveRefs(parse(document).root)
  const [[uri, target] = [], ...more] = [...schemas].filter(([key]) => key !== root)
  expect(schemas.get(root)).toEqual({ minimum: 1, allOf: [{ $ref: uri }] })
  expect(target).toEqual({ type: 'number' })
  expect(more).toEqual([])
})
