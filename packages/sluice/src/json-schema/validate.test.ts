// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'

const validatorOf = (schema: object | boolean) => (value: unknown) =>
  jsonSchema(schema)['~standard'].validate(value).issues

const issuesOf = (schema: object, value: unknown) => validatorOf(schema)(value)

test.each([
  ['a missing property', { required: ['a', 'b'] }, {}, [['a'], ['b']]],
  [
    'a missing property further down',
    { properties: { a: { items: { required: ['b'] } } } },
    { a: [{ b: 1 }, {}] },
    [['a', 1, 'b']],
  ],
  ['a property that may not be there', { properties: {}, additionalProperties: false }, { 'x/y': 1 }, [['x/y']]],
  ['a property of the wrong type', { properties: { 'a~b/c': { type: 'string' } } }, { 'a~b/c': 1 }, [['a~b/c']]],
  ['an additional property of the wrong type', { additionalProperties: { type: 'string' } }, { a: 1 }, [['a']]],
  ['an unevaluated property', { unevaluatedProperties: false }, { a: 1, b: 1 }, [['a'], ['b']]],
  ['an item', { items: { type: 'string' } }, ['a', 1], [[1]]],
  ['a bad name', { propertyNames: { maxLength: 1 } }, { ab: 1 }, [['ab']]],
  ['a property that another one needs', { dependentRequired: { a: ['b'] } }, { a: 1 }, [['b']]],
  ['what then asks for', { if: true, then: { required: ['a'] } }, {}, [['a']]],
  ['what else asks for', { if: false, else: { properties: { a: false } } }, { a: 1 }, [['a']]],
  [
    'behind a $ref',
    { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { required: ['b'] } } },
    { a: {} },
    [['a', 'b']],
  ],
  [
    'the same string twice behind one $ref',
    { additionalProperties: { $ref: '#/$defs/x' }, $defs: { x: { type: 'number' } } },
    { a: 's', b: 's' },
    [['a'], ['b']],
  ],
  ['the same thing asked for twice', { allOf: [{ required: ['a'] }, { required: ['a'] }] }, {}, [['a']]],
  ['the value itself', { type: 'string' }, 1, [[]]],
])('the path leads to %s', (_name, schema, value, paths) => {
  expect(issuesOf(schema, value)?.map(({ path }) => path)).toStrictEqual(paths)
})

test('no more than twenty issues are reported', () => {
  const numbers = Array.from({ length: 10_000 }, () => 1)
  expect(validatorOf({ items: { type: 'string' } })(numbers)).toHaveLength(20)
})

test('nested alternatives do not take exponential time', () => {
  const operation = (op: string) => ({
    properties: { args: { items: { $ref: '#' } }, op: { const: op } },
    required: ['op'],
  })
  const schema = validatorOf({ type: 'object', anyOf: [operation('and'), operation('or'), operation('not')] })
  const nest = (leaf: unknown) => Array.from({ length: 30 }).reduce((inner) => ({ op: 'not', args: [inner] }), leaf)
  expect(schema(nest({ op: 'not' }))).toBeUndefined()
  expect(schema(nest({ op: 'nor' }))?.[0]?.path).toHaveLength(61)
})

test('a schema that multiplies is tested once per value', () => {
  const levels = Array.from({ length: 60 }, (_, n) => [
    `l${n}`,
    { allOf: Array(2).fill({ $ref: `#/$defs/l${n + 1}` }) },
  ])
  const schema = validatorOf({ $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l60: { type: 'object' } } })
  expect(schema({})).toBeUndefined()
  expect(schema(1)).toEqual([{ message: 'must be an object', path: [] }])
})

test('a value too deep to be checked does not pass, and does not throw', () => {
  const deep = Array.from({ length: 100_000 }).reduce((inner) => [inner], [] as unknown)
  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  for (const value of [deep, cyclic])
    expect(validatorOf({ items: { $ref: '#' } })(value)?.[0]?.message).toMatch(/too deep/)
})
