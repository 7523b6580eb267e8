import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'

test.each<readonly [string, unknown, string]>([
  ['an $id with a fragment', { $id: 'https://example.com/#a' }, '"$id" must be a URI without a fragment'],
  ['an $anchor with a sign', { $anchor: '#a' }, '"$anchor" must be a name'],
  ['an unknown type', { type: 'int' }, 'at #: "type" must be one of string, number'],
  ['an empty list of types', { type: [] }, '"type" must be one of'],
  ['required as in draft-03', { required: true }, '"required" must be a list of names'],
  ['exclusiveMinimum as in draft-04', { exclusiveMinimum: true }, '"exclusiveMinimum" must be a number'],
  ['a negative length', { minLength: -1 }, '"minLength" must be a whole number, 0 or more'],
  ['multipleOf 0', { multipleOf: 0 }, '"multipleOf" must be a number above 0'],
  ['enum that is not a list', { enum: 'a' }, '"enum" must be a list of values'],
  ['anyOf without any', { anyOf: [] }, '"anyOf" must be a list of schemas'],
  ['properties as a list', { properties: [] }, '"properties" must be an object of schemas'],
  ['dependentRequired as a list', { dependentRequired: { a: 'b' } }, '"dependentRequired" must be'],
  ['items as a list', { items: [{}] }, 'write "prefixItems"'],
  ['additionalItems', { additionalItems: false }, 'write "prefixItems"'],
  ['dependencies', { dependencies: {} }, 'write "dependentRequired"'],
  ['$recursiveRef', { $recursiveRef: '#' }, 'write "$dynamicRef"'],
  ['draft-04', { $schema: 'http://json-schema.org/draft-04/schema#' }, 'convert the schema or remove "$schema"'],
  ['a custom dialect', { $schema: 'https://example.com/meta' }, 'convert the schema or remove "$schema"'],
  ['another dialect further down', { $defs: { a: { $schema: 'urn:x' } } }, 'at #/$defs/a: "$schema" must be'],
  ['a number', 1, 'at #: a schema must be an object, true or false'],
  ['null', null, 'at #: a schema must be'],
  ['a list', [], 'at #: a schema must be'],
  ['a string for a schema', { properties: { a: 'string' } }, 'at #/properties/a: a schema must be'],
  ['a pattern that is not Unicode', { properties: { a: { pattern: '\\-' } } }, 'at #/properties/a: the pattern'],
  ['a name pattern that does not compile', { patternProperties: { '[': true } }, 'is not a regular expression'],
])('%s is refused', (_name, schema, problem) => {
  expect(() => jsonSchema(schema as object)['~standard'].validate(1)).toThrow(problem)
})

const $schema = 'http://json-schema.org/draft-07/schema#'
const draft7 = (schema: object) => (value: unknown) =>
  jsonSchema({ $schema, ...schema })['~standard'].validate(value).issues === undefined

test.each<readonly [string, object, readonly unknown[], readonly unknown[]]>([
  [
    'definitions',
    { $ref: '#/definitions/a', definitions: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
    [{}, { b: 'x' }],
    [1, { b: 1 }],
  ],
  ['a list of items', { items: [{ type: 'string' }, { type: 'number' }] }, [['a', 1, null], ['a']], [[1], ['a', 'b']]],
  ['additionalItems', { items: [{ type: 'string' }], additionalItems: false }, [['a']], [['a', 1]]],
  ['additionalItems beside one schema', { items: { type: 'string' }, additionalItems: false }, [['a', 'b']], [[1]]],
  ['dependencies with names', { dependencies: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  ['dependencies with a schema', { dependencies: { a: { required: ['c'] } } }, [{ a: 1, c: 1 }], [{ a: 1 }]],
  [
    'a $ref, and nothing beside it',
    { properties: { a: { $ref: '#/definitions/n', maximum: 1 } }, definitions: { n: { type: 'number' } } },
    [{ a: 5 }],
    [{ a: 'x' }],
  ],
  ['a name in $id', { allOf: [{ $ref: '#n' }], definitions: { n: { $id: '#n', type: 'number' } } }, [1], ['a']],
  [
    'a part in the other draft',
    {
      properties: {
        new: { $id: 'urn:new', $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ const: 1 }] },
      },
    },
    [{ new: [1] }],
    [{ new: [2] }],
  ],
])('draft-07 has %s', (_name, schema, valid, invalid) => {
  expect(valid.map(draft7(schema))).toEqual(valid.map(() => true))
  expect(invalid.map(draft7(schema))).toEqual(invalid.map(() => false))
})

test.each(['https://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema'])(
  'draft-07 is also known as %s',
  (uri) => expect(draft7({ $schema: uri, items: [{ const: 1 }] })([1])).toBe(true),
)

test.each<readonly [object, string]>([
  [{ prefixItems: [{}] }, '"prefixItems" belongs to a later draft'],
  [{ properties: { a: { dependentRequired: {} } } }, 'at #/properties/a: "dependentRequired" belongs to a later draft'],
  [{ items: [{ type: 'int' }] }, 'at #/items/0: "type" must be one of'],
  [{ items: [{}], additionalItems: { type: 'int' } }, 'at #/additionalItems: "type"'],
  [{ dependencies: { a: { type: 'int' } } }, 'at #/dependencies/a: "type"'],
  [{ dependencies: [] }, '"dependencies" must be an object'],
  [{ properties: { a: { $schema: 'https://json-schema.org/draft/2020-12/schema' } } }, 'needs an "$id" beside it'],
])('in draft-07 %j is refused', (schema, problem) => {
  expect(() => draft7(schema)(1)).toThrow(problem)
})

test('a draft-07 schema is listed unchanged, with its "$schema"', () => {
  const schema = { $schema, type: 'object', properties: { a: { items: [{ type: 'string' }] } } }
  for (const target of ['draft-07', 'draft-2020-12'] as const)
    expect(jsonSchema(schema)['~standard'].jsonSchema.input({ target })).toEqual(schema)
})
