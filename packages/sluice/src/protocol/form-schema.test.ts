import { ElicitRequestFormParamsSchema } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { jsonSchema } from '../json-schema/index.ts'
import { form } from './questions.ts'

const formOf = (properties: { readonly [name: string]: object }) =>
  form('Fill in', jsonSchema({ type: 'object', properties }))
const fieldOf = (field: object): unknown =>
  (formOf({ field }).params['requestedSchema'] as { properties: { field: unknown } }).properties.field

test.each<readonly [name: string, field: object, drawn: object]>([
  ['text', { type: 'string', minLength: 1, maxLength: 9 }, { type: 'string', minLength: 1, maxLength: 9 }],
  ...(['email', 'uri', 'date', 'date-time'] as const).map(
    (format) => [format, { type: 'string', format }, { type: 'string', format }] as const,
  ),
  ['text of a form that clients do not know', { type: 'string', format: 'uuid' }, { type: 'string' }],
  ['text with a pattern', { type: 'string', pattern: '^a' }, { type: 'string' }],
  ['an address', { type: 'string', format: 'ipv4', title: 'Host' }, { type: 'string', title: 'Host' }],
  ['a number', { type: 'number', minimum: 1, multipleOf: 2, default: 4 }, { type: 'number', minimum: 1, default: 4 }],
  ['a boolean', { type: 'boolean', default: true }, { type: 'boolean', default: true }],
  ['one value', { type: 'string', const: 'a' }, { type: 'string', enum: ['a'] }],
  ['a choice', { type: 'string', enum: ['a', 'b'], default: 'a' }, { type: 'string', enum: ['a', 'b'], default: 'a' }],
  [
    'a choice with titles',
    { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
    {
      type: 'string',
      oneOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'b' },
      ],
    },
  ],
  [
    'a list of choices',
    { type: 'array', items: { enum: ['a'] }, minItems: 1, uniqueItems: true, default: ['a'] },
    { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, default: ['a'] },
  ],
  [
    'a list of choices with titles',
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
  ],
])('%s is rendered by clients, without the keywords they do not know', (_, field, drawn) => {
  expect(fieldOf(field)).toEqual(drawn)
})

test.each<readonly [name: string, field: object]>([
  ['a list of texts', { type: 'array', items: { type: 'string' } }],
  ['a list of numbers', { type: 'array', items: { type: 'number' } }],
  ['a list of chosen numbers', { type: 'array', items: { enum: [1, 2] } }],
  ['a list of objects', { type: 'array', items: { type: 'object' } }],
  ['a list of anything', { type: 'array' }],
  ['an object', { type: 'object', properties: {} }],
  ['a choice of numbers', { type: 'integer', enum: [1, 2] }],
  ['a choice of texts and numbers', { type: 'string', enum: ['a', 1] }],
  ['null', { type: 'null' }],
  ['two types', { type: ['string', 'number'] }],
  ['no type', {}],
])('%s is refused when the form is defined', (_, field) => {
  expect(() => formOf({ field })).toThrow(/^form "Fill in": "field" must be a string, a number, a boolean, a choice/)
})

test('constraints that clients do not know are checked when the answer arrives', () => {
  const { accept } = form('Which?', z.object({ id: z.uuid() }))
  expect(accept({ action: 'accept', content: { id: 'no' } })).toBeUndefined()
  const id = '0198c0de-0000-7000-8000-000000000000'
  expect(accept({ action: 'accept', content: { id } })).toEqual({ value: { id } })
})

test('the official client accepts every form that is accepted here', () => {
  const scalar = fc.oneof(fc.constantFrom('a', 'email', 'uuid', 'date'), fc.integer(), fc.boolean(), fc.constant(null))
  const texts = fc.array(fc.oneof({ weight: 4, arbitrary: fc.string() }, { weight: 1, arbitrary: scalar }), {
    minLength: 1,
    maxLength: 3,
  })
  const option = fc.record({ const: scalar, title: fc.string() }, { requiredKeys: ['const'] })
  const items = fc.record(
    {
      type: fc.constantFrom('string', 'number'),
      enum: texts,
      const: scalar,
      anyOf: fc.array(option, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const field = fc.record(
    {
      ...{ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object'), items },
      ...{ title: fc.string(), description: fc.string(), default: fc.oneof(scalar, texts), enum: texts, const: scalar },
      ...{
        oneOf: fc.array(option, { minLength: 1, maxLength: 2 }),
        format: fc.constantFrom('email', 'uuid', 'ipv4', 'date-time'),
      },
      ...{ minLength: fc.nat(9), maxItems: fc.nat(9), minimum: fc.integer(), pattern: fc.constant('^a') },
    },
    { requiredKeys: ['type'] },
  )
  const isMade = (field: object): unknown => {
    try {
      return formOf({ field }).params
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(TypeError)
      return undefined
    }
  }
  fc.assert(
    fc.property(field, (generated) => {
      const params = isMade(generated)
      if (params !== undefined) expect(ElicitRequestFormParamsSchema.safeParse(params).error).toBeUndefined()
    }),
    { numRuns: 3_000 },
  )
})
