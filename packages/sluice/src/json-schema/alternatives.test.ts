import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'

const validatorOf = (schema: object | boolean) => (value: unknown) =>
  jsonSchema(schema)['~standard'].validate(value).issues

test.each([
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'must be a string or must be null', []],
  [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, {}, 'a is required or b is required', []],
  [{ items: { oneOf: [{ const: 1 }, { const: 2 }] } }, [3], 'must be 1 or must be 2', [0]],
  [{ oneOf: [1, 2, 3, 4, 5].map((one) => ({ const: one })) }, 6, 'matches none of 5 alternatives', []],
  [{ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 2, 'must match only one of 2 alternatives, but matches 2', []],
  [
    { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'string' } } }] },
    { a: 1 },
    'must be a string',
    ['a'],
  ],
])('alternatives %j report %j with one issue', (schema, value, message, path) => {
  expect(validatorOf(schema)(value)).toEqual([{ message, path }])
})

test('the closest of several alternatives is reported', () => {
  const shapes = {
    oneOf: [
      { properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
      { properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
    ],
  }
  const findIssues = validatorOf(shapes)
  expect(findIssues({ kind: 'square', side: 'long' })).toEqual([{ message: 'must be a number', path: ['side'] }])
})

test('an issue that all alternatives have with one member is reported at that member', () => {
  const kinds = ['circle', 'square'].map((kind) => ({ properties: { kind: { const: kind } } }))
  expect(validatorOf({ anyOf: kinds })({ kind: 'cube' })).toEqual([
    { message: 'must be "circle" or must be "square"', path: ['kind'] },
  ])
})
