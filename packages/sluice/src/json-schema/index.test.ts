// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { expect, expectTypeOf, test } from 'vitest'
import type { JsonSchema } from './index.ts'
import { jsonSchema } from './index.ts'

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.com/order',
  title: 'Order',
  type: 'object',
  properties: { size: { $ref: '#size' }, note: { type: 'string', 'x-mcp-header': 'Note' } },
  additionalProperties: false,
  allOf: [{ if: { required: ['note'] }, then: { required: ['size'] }, else: {} }],
  $defs: { size: { $anchor: 'size', enum: [1, 2], description: 'How many' } },
}

test('it says who made it', () => {
  expect(jsonSchema(schema)['~standard']).toMatchObject({ version: 1, vendor: 'sluice' })
})

test('the author’s schema comes back word for word, in its order', () => {
  const { input, output } = jsonSchema(schema)['~standard'].jsonSchema
  expect(JSON.stringify(input({ target: 'draft-2020-12' }))).toBe(JSON.stringify(schema))
  expect(JSON.stringify(output({ target: 'draft-2020-12' }))).toBe(JSON.stringify(schema))
})

test('nobody can change what is listed or what is checked', () => {
  const mine = { type: 'object', properties: { a: { type: 'string' } } }
  const { validate, jsonSchema: listed } = jsonSchema(mine)['~standard']
  const given = listed.input({ target: 'draft-2020-12' })
  given['type'] = 'array'
  mine.properties.a.type = 'number'
  expect(listed.input({ target: 'draft-2020-12' })).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  expect(validate({ a: 1 }).issues).toHaveLength(1)
})

test('true and false are listed as objects, since a list can hold nothing else', () => {
  expect(jsonSchema(true)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })).toEqual({})
  expect(jsonSchema(false)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })).toEqual({ not: {} })
})

test('it is not rewritten for other dialects', () => {
  expect(() => jsonSchema({})['~standard'].jsonSchema.input({ target: 'draft-07' })).toThrow(
    'cannot be given as draft-07',
  )
})

test('a value that passes is handed back itself', () => {
  const value = { size: 1 }
  const result = jsonSchema(schema)['~standard'].validate(value)
  expect(result.issues === undefined && result.value).toBe(value)
})

test('its types are those that were named', () => {
  const order = jsonSchema<{ size: number }>(schema)
  expectTypeOf(order).toExtend<StandardSchemaV1<unknown, { size: number }>>()
  expectTypeOf(order).toExtend<StandardJSONSchemaV1>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof order>>().toEqualTypeOf<{ size: number }>()
  expectTypeOf(jsonSchema({})).toEqualTypeOf<JsonSchema<unknown>>()
})

test('keywords that are undefined are not there', () => {
  const given = { type: 'string', minLength: undefined, items: { $id: undefined, $ref: undefined } }
  const { validate } = jsonSchema(given)['~standard']
  expect(validate('a')).toEqual({ value: 'a' })
  expect(validate(1).issues).toHaveLength(1)
})

test('formats are only noted where the standard is asked for', () => {
  expect(jsonSchema({ format: 'email' })['~standard'].validate('a').issues).toHaveLength(1)
  expect(jsonSchema({ format: 'email' }, { format: 'note' })['~standard'].validate('a')).toEqual({ value: 'a' })
})

test('a deep constant is compared to its end', () => {
  const deep = (end: unknown) => Array.from({ length: 100 }).reduce((inner) => [inner], end)
  const { validate } = jsonSchema({ const: deep(1) })['~standard']
  expect(validate(deep(1)).issues).toBeUndefined()
  expect(validate(deep(2)).issues).toHaveLength(1)
})

test('what JSON cannot hold is refused by whoever uses it first', () => {
  const listed = (schema: object) => () => jsonSchema(schema)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const checked = (schema: object) => () => jsonSchema(schema)['~standard'].validate(1)
  const around: Record<string, unknown> = {}
  around['not'] = around
  for (const use of [listed, checked]) {
    for (const schema of [{ default: 1n }, around]) expect(use(schema)).toThrow('cannot be written as JSON')
    for (const nothing of [undefined, () => {}])
      expect(use(nothing as object)).toThrow('at #: a schema must be an object')
  }
})
