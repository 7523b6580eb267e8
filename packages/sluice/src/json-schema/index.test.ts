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

test('it names its vendor', () => {
  expect(jsonSchema(schema)['~standard']).toMatchObject({ version: 1, vendor: 'sluice' })
})

test('the author’s schema is listed unchanged, in its order', () => {
  const { input, output } = jsonSchema(schema)['~standard'].jsonSchema
  expect(JSON.stringify(input({ target: 'draft-2020-12' }))).toBe(JSON.stringify(schema))
  expect(JSON.stringify(output({ target: 'draft-2020-12' }))).toBe(JSON.stringify(schema))
})

test('no caller can change the listed or the checked schema', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const { validate, jsonSchema: listed } = jsonSchema(schema)['~standard']
  const copy = listed.input({ target: 'draft-2020-12' })
  copy['type'] = 'array'
  schema.properties.a.type = 'number'
  expect(listed.input({ target: 'draft-2020-12' })).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  expect(validate({ a: 1 }).issues).toHaveLength(1)
})

test('true and false are listed as objects, because a list can hold nothing else', () => {
  expect(jsonSchema(true)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })).toEqual({})
  expect(jsonSchema(false)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })).toEqual({ not: {} })
})

test('it is not converted to other dialects', () => {
  expect(() => jsonSchema({})['~standard'].jsonSchema.input({ target: 'draft-07' })).toThrow(
    'cannot be converted to draft-07',
  )
})

test('a value that passes is returned itself', () => {
  const value = { size: 1 }
  const result = jsonSchema(schema)['~standard'].validate(value)
  expect(result.issues === undefined && result.value).toBe(value)
})

test('it has the declared types', () => {
  const order = jsonSchema<{ size: number }>(schema)
  expectTypeOf(order).toExtend<StandardSchemaV1<unknown, { size: number }>>()
  expectTypeOf(order).toExtend<StandardJSONSchemaV1>()
  expectTypeOf<StandardSchemaV1.InferOutput<typeof order>>().toEqualTypeOf<{ size: number }>()
  expectTypeOf(jsonSchema({})).toEqualTypeOf<JsonSchema<unknown>>()
})

test('undefined keywords are ignored', () => {
  const schema = { type: 'string', minLength: undefined, items: { $id: undefined, $ref: undefined } }
  const { validate } = jsonSchema(schema)['~standard']
  expect(validate('a')).toEqual({ value: 'a' })
  expect(validate(1).issues).toHaveLength(1)
})

test('with `note`, formats are not checked', () => {
  expect(jsonSchema({ format: 'email' })['~standard'].validate('a').issues).toHaveLength(1)
  expect(jsonSchema({ format: 'email' }, { format: 'note' })['~standard'].validate('a')).toEqual({ value: 'a' })
})

test('a deep constant is compared completely', () => {
  const deep = (end: unknown) => Array.from({ length: 100 }).reduce((inner) => [inner], end)
  const { validate } = jsonSchema({ const: deep(1) })['~standard']
  expect(validate(deep(1)).issues).toBeUndefined()
  expect(validate(deep(2)).issues).toHaveLength(1)
})

test('a schema that JSON cannot hold is refused at first use', () => {
  const listed = (schema: object) => () => jsonSchema(schema)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const checked = (schema: object) => () => jsonSchema(schema)['~standard'].validate(1)
  const cyclic: Record<string, unknown> = {}
  cyclic['not'] = cyclic
  for (const use of [listed, checked]) {
    for (const schema of [{ default: 1n }, cyclic]) expect(use(schema)).toThrow('cannot be written as JSON')
    for (const nothing of [undefined, () => {}])
      expect(use(nothing as object)).toThrow('at #: a schema must be an object')
  }
})
