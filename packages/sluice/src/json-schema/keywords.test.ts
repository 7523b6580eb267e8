import { expect, test } from 'vitest'
import { link } from './link.ts'

test.each<readonly [string, unknown, string]>([
  ['an $id with a fragment', { $id: 'https://example.com/#a' }, '"$id" must be a URI without a fragment'],
  ['an $anchor with a sign', { $anchor: '#a' }, '"$anchor" must be a name'],
  ['an unknown type', { type: 'int' }, 'at #: "type" must be one of string, number'],
  ['an empty list of types', { type: [] }, '"type" must be one of'],
  ['required as in draft-03', { required: true }, '"required" must be a list of names'],
  ['exclusiveMinimum as in draft-04', { exclusiveMinimum: true }, '"exclusiveMinimum" must be a number'],
  ['a negative length', { minLength: -1 }, '"minLength" must be a whole number, 0 or more'],
  ['multipleOf 0', { multipleOf: 0 }, '"multipleOf" must be a number above 0'],
  ['enum that is no list', { enum: 'a' }, '"enum" must be a list of values'],
  ['anyOf without any', { anyOf: [] }, '"anyOf" must be a list of schemas'],
  ['properties as a list', { properties: [] }, '"properties" must be an object of schemas'],
  ['dependentRequired as a list', { dependentRequired: { a: 'b' } }, '"dependentRequired" must be'],
  ['items as a list', { items: [{}] }, 'write "prefixItems"'],
  ['additionalItems', { additionalItems: false }, 'write "prefixItems"'],
  ['dependencies', { dependencies: {} }, 'write "dependentRequired"'],
  ['$recursiveRef', { $recursiveRef: '#' }, 'write "$dynamicRef"'],
  ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'convert the schema or remove "$schema"'],
  ['a dialect of its own', { $schema: 'https://example.com/meta' }, 'convert the schema or remove "$schema"'],
  ['another dialect further down', { $defs: { a: { $schema: 'urn:x' } } }, 'at #/$defs/a: "$schema" must be'],
  ['a number', 1, 'at #: a schema must be an object, true or false'],
  ['null', null, 'at #: a schema must be'],
  ['a list', [], 'at #: a schema must be'],
  ['a string for a schema', { properties: { a: 'string' } }, 'at #/properties/a: a schema must be'],
  ['a pattern that is not Unicode', { properties: { a: { pattern: '\\-' } } }, 'at #/properties/a: the pattern'],
  ['a name pattern that does not compile', { patternProperties: { '[': true } }, 'is no regular expression'],
])('%s is refused', (_name, schema, problem) => {
  expect(() => link(schema)).toThrow(problem)
})
