import { expect, test } from 'vitest'
import { parse } from './parse.ts'

const nested = (levels: number) =>
  Array.from({ length: levels }).reduce((inner) => ({ not: inner }), {} as object) as object

test.each<readonly [string, object, string]>([
  [
    'a network $ref',
    { $ref: 'https://example.com/a.json' },
    'at #: "https://example.com/a.json" points outside this document',
  ],
  ['a file $ref', { items: { $ref: 'file:///etc/passwd' } }, 'at #/items: "file:///etc/passwd" points outside'],
  [
    'a relative $ref',
    { properties: { a: { $ref: 'other.json#/b' } } },
    'at #/properties/a: "other.json#/b" points outside',
  ],
  ['a network $dynamicRef', { $dynamicRef: 'http://example.com/a#b' }, 'points outside this document'],
  [
    'a network $ref that nothing uses',
    { $defs: { a: { $ref: 'https://example.com' } } },
    'at #/$defs/a: "https://example.com" points outside',
  ],
  ['a $ref to nothing', { $ref: '#/$defs/a' }, 'at #: "#/$defs/a" points to nothing'],
  ['a $ref to an inherited name', { $ref: '#/constructor' }, 'points to nothing'],
  ['a $ref to an unknown anchor', { $ref: '#a' }, 'at #: "#a" points to nothing'],
  ['a $ref to a value that is not a schema', { $ref: '#/title', title: 'a' }, 'at #/title: a schema must be'],
  ['a $ref that is not a URI', { $ref: 'http://[' }, 'is not a URI reference'],
  ['a $ref with a bad escape', { $ref: '#/%zz' }, 'is not a URI reference'],
  ['two schemas with one $id', { $defs: { a: { $id: 'x' }, b: { $id: 'x' } } }, 'at #/$defs/b: two schemas are named'],
  [
    'two schemas with one $anchor',
    { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
    'at #/$defs/b: two schemas',
  ],
  ['nesting past 128', nested(129), 'nested deeper than 128'],
])('%s is refused', (_name, schema, problem) => {
  expect(() => parse(schema)).toThrow(problem)
})

test('128 levels are still accepted', () => {
  expect(() => parse(nested(128))).not.toThrow()
})
