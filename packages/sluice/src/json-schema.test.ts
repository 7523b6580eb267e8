// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import { execFileSync } from 'node:child_process'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { JsonSchema, JsonSchemaOptions } from './json-schema.ts'
import { jsonSchema } from './json-schema.ts'

const dialect = 'https://json-schema.org/draft/2020-12/schema'

/** As on workerd during a request: `new Function` was there when TypeBox first asked, and now throws. */
function withoutCodeGeneration<T>(build: () => T): T {
  const real = globalThis.Function
  globalThis.Function = class {
    constructor() {
      throw new EvalError('Code generation from strings disallowed for this context')
    }
  } as unknown as FunctionConstructor
  try {
    return build()
  } finally {
    globalThis.Function = real
  }
}

const engines = [
  ['compiled', (schema: object | boolean, options?: JsonSchemaOptions) => jsonSchema(schema, options)],
  [
    'interpreted',
    (schema: object | boolean, options?: JsonSchemaOptions) => withoutCodeGeneration(() => jsonSchema(schema, options)),
  ],
] as const

const issuesOf = (schema: JsonSchema, value: unknown) => schema['~standard'].validate(value).issues ?? []

/** Keyword, schema, values that pass, values that do not. */
const cases: readonly (readonly [string, object | boolean, readonly unknown[], readonly unknown[]])[] = [
  ['true', true, [1, null, {}], []],
  ['false', false, [], [1, null, {}]],
  ['an empty schema', {}, [1, 'a', null, [], {}], []],
  ['type string', { type: 'string' }, ['', 'a'], [1, null, [], {}, true]],
  ['type number', { type: 'number' }, [0, 1.5, -2e9], ['1', null, Number.NaN]],
  ['type integer', { type: 'integer' }, [0, 1.0, -3, 1e30], [1.5, '1', true]],
  ['type boolean', { type: 'boolean' }, [true, false], [0, 'true', null]],
  ['type null', { type: 'null' }, [null], [0, '', false, {}]],
  ['type array', { type: 'array' }, [[], [1]], [{}, 'a', null]],
  ['type object', { type: 'object' }, [{}, { a: 1 }], [[], null, 'a']],
  ['several types', { type: ['string', 'null'] }, ['a', null], [1, [], {}]],
  ['const', { const: { a: [1, null] } }, [{ a: [1, null] }], [{ a: [1] }, { a: [null, 1] }, null]],
  ['const null', { const: null }, [null], [0, false, {}, '']],
  ['const 0 is not false', { const: 0 }, [0, -0], [false, '', null]],
  ['const ignores the order of keys', { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }]],
  ['enum', { enum: ['a', 1, null, { b: 2 }] }, ['a', 1, null, { b: 2 }], ['b', '1', {}, [], { b: 3 }]],
  ['enum in an optional property', { properties: { a: { enum: ['x'] } } }, [{}, { a: 'x' }], [{ a: 'y' }]],
  ['multipleOf', { multipleOf: 2 }, [0, 4, -6, 'a'], [3, 1.5]],
  ['multipleOf a fraction', { multipleOf: 0.01 }, [19.99, 0.07, 3], [0.075, 0.001]],
  ['minimum', { minimum: 3 }, [3, 4.5, '1'], [2.99, -1]],
  ['maximum', { maximum: 3 }, [3, -4, '9'], [3.01]],
  ['exclusiveMinimum', { exclusiveMinimum: 3 }, [3.01], [3, 2]],
  ['exclusiveMaximum', { exclusiveMaximum: 3 }, [2.99], [3, 4]],
  ['minLength', { minLength: 2 }, ['ab', 'abc', 1], ['', 'a']],
  ['minLength counts characters, not code units', { minLength: 2 }, ['👋👋'], ['👋']],
  ['minLength nobody reaches', { minLength: 2 ** 31 }, [1], ['a']],
  ['maxLength', { maxLength: 2 }, ['', 'ab', 123], ['abc']],
  ['maxLength counts characters, not code units', { maxLength: 2 }, ['👋👋'], ['👋👋👋']],
  ['pattern is not anchored', { pattern: 'b' }, ['abc', 1], ['acd']],
  ['pattern with anchors', { pattern: '^a+$' }, ['a', 'aaa'], ['', 'ab', 'a\n']],
  ['pattern knows Unicode', { pattern: '^\\p{L}$' }, ['ä', '世'], ['1', '👋']],
  ['minItems', { minItems: 1 }, [[1], {}], [[]]],
  ['maxItems', { maxItems: 1 }, [[], [1], 'abc'], [[1, 2]]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [[1, '1', true], [{ a: 1 }, { a: 2 }], []],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  ['uniqueItems false', { uniqueItems: false }, [[1, 1]], []],
  ['items', { items: { type: 'number' } }, [[], [1, 2], 'a'], [[1, 'a']]],
  ['items false', { items: false }, [[]], [[1]]],
  [
    'prefixItems',
    { prefixItems: [{ type: 'number' }, { type: 'string' }] },
    [[], [1], [1, 'a', null]],
    [['a'], [1, 2]],
  ],
  [
    'items after prefixItems',
    { prefixItems: [{ type: 'number' }], items: { type: 'string' } },
    [[1, 'a', 'b']],
    [[1, 2]],
  ],
  ['contains', { contains: { const: 1 } }, [[1], [0, 1], 'a'], [[], [0]]],
  ['minContains', { contains: { const: 1 }, minContains: 2 }, [[1, 0, 1]], [[1], []]],
  ['minContains 0', { contains: { const: 1 }, minContains: 0 }, [[], [0]], []],
  ['maxContains', { contains: { const: 1 }, maxContains: 1 }, [[1, 0]], [[1, 1], []]],
  ['maxContains alone', { maxContains: 1 }, [[1, 1, 1]], []],
  ['unevaluatedItems', { prefixItems: [true], unevaluatedItems: false }, [[], [1]], [[1, 2]]],
  [
    'unevaluatedItems sees contains',
    { contains: { const: 1 }, unevaluatedItems: { type: 'string' } },
    [[1, 'a']],
    [[1, 2]],
  ],
  [
    'unevaluatedItems sees anyOf',
    { anyOf: [{ prefixItems: [true, { const: 2 }] }, { prefixItems: [true] }], unevaluatedItems: false },
    [[1], [1, 2]],
    [[1, 3]],
  ],
  ['required', { required: ['a', 'b'] }, [{ a: 1, b: null }, [], 'x'], [{}, { a: 1 }]],
  [
    'required finds own names only',
    { required: ['toString', '__proto__', 'constructor'] },
    [JSON.parse('{"toString":1,"__proto__":1,"constructor":1}')],
    [{}, { toString: 1 }],
  ],
  [
    'properties',
    { properties: { a: { type: 'number' }, b: false } },
    [{}, { a: 1, c: 'x' }, []],
    [{ a: 'x' }, { b: 1 }],
  ],
  [
    'properties with inherited names',
    { properties: { toString: { type: 'string' }, valueOf: { type: 'number' } } },
    [{}, { toString: 'x' }],
    [{ toString: 1 }],
  ],
  [
    'properties with names that are code',
    { properties: { '"];throw 1//': { type: 'number' }, '\u2028`${': true }, required: ['"];throw 1//'] },
    [{ '"];throw 1//': 1 }],
    [{ '"];throw 1//': 'a' }, {}],
  ],
  [
    'patternProperties',
    { patternProperties: { '^n': { type: 'number' }, s$: { minimum: 2 } } },
    [{}, { n: 1, x: 'a' }, { ns: 2 }],
    [{ n: 'a' }, { ns: 1 }],
  ],
  [
    'additionalProperties false',
    { properties: { a: true }, additionalProperties: false },
    [{}, { a: 1 }],
    [{ b: 1 }, { a: 1, b: 1 }],
  ],
  [
    'additionalProperties beside required',
    { properties: { a: true }, required: ['a'], additionalProperties: false },
    [{ a: 1 }],
    [{}, { b: 1 }, { a: 1, b: 1 }],
  ],
  ['additionalProperties with a schema', { additionalProperties: { type: 'number' } }, [{ a: 1 }], [{ a: 'x' }]],
  [
    'additionalProperties minds patterns',
    { patternProperties: { '^x-': true }, additionalProperties: false },
    [{ 'x-a': 1 }],
    [{ a: 1 }],
  ],
  [
    'additionalProperties and a pattern with a back reference',
    { patternProperties: { '^(a)\\1$': true }, additionalProperties: false },
    [{ aa: 1 }],
    [{ a: 1 }, { ab: 1 }],
  ],
  [
    'additionalProperties does not look into allOf',
    { allOf: [{ properties: { a: true } }], additionalProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  [
    'unevaluatedProperties looks into allOf',
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    [{}, { a: 1 }],
    [{ a: 1, b: 1 }],
  ],
  [
    'unevaluatedProperties looks into if',
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      then: { properties: { b: true } },
      else: { properties: { c: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1, c: 1 }, { b: 1 }],
  ],
  [
    'unevaluatedProperties does not look into not',
    { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  [
    'unevaluatedProperties does not look into cousins',
    { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] },
    [{}],
    [{ a: 1 }],
  ],
  [
    'unevaluatedProperties looks through $ref',
    { $ref: '#/$defs/a', unevaluatedProperties: false, $defs: { a: { properties: { a: true } } } },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  [
    'unevaluatedProperties sees dependentSchemas',
    { dependentSchemas: { a: { properties: { a: true, b: true } } }, unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  ['propertyNames', { propertyNames: { maxLength: 2 } }, [{}, { ab: 1 }, []], [{ abc: 1 }]],
  ['minProperties', { minProperties: 1 }, [{ a: 1 }, []], [{}]],
  ['maxProperties', { maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }]],
  [
    'dependentRequired',
    { dependentRequired: { a: ['b', 'c'] } },
    [{}, { b: 1 }, { a: 1, b: 1, c: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
  ],
  ['dependentSchemas', { dependentSchemas: { a: { minProperties: 2 } } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  ['allOf', { allOf: [{ minimum: 2 }, { maximum: 4 }] }, [2, 3, 'a'], [1, 5]],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 2 }] }, ['a', 2, null], [1]],
  ['oneOf', { oneOf: [{ minimum: 2 }, { maximum: 4 }] }, [1, 5], [3, 'a']],
  ['not', { not: { type: 'string' } }, [1, null], ['a']],
  ['if and then', { if: { minimum: 10 }, then: { multipleOf: 10 } }, [1, 20, 'a'], [11]],
  ['if and else', { if: { minimum: 10 }, else: { multipleOf: 2 } }, [11, 4], [3]],
  ['then without if', { then: false, else: false }, [1], []],
  ['$ref to $defs', { $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, [1], ['a']],
  ['$ref and siblings both count', { $ref: '#/$defs/n', maximum: 3, $defs: { n: { type: 'number' } } }, [1], ['a', 4]],
  [
    '$ref to itself below',
    { properties: { next: { $ref: '#' } }, required: ['v'] },
    [{ v: 1, next: { v: 2 } }],
    [
      { v: 1, next: {} },
      { v: 1, next: { v: 1, next: {} } },
    ],
  ],
  [
    '$ref around in circles',
    {
      $ref: '#/$defs/a',
      $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { type: 'array', items: { $ref: '#/$defs/a' } } },
    },
    [[], [[]], [[[[]]]]],
    [[1], [[[1]]]],
  ],
  ['$ref to false', { properties: { a: { $ref: '#/$defs/no' } }, $defs: { no: false } }, [{}], [{ a: 1 }]],
  ['$ref with escapes', { $ref: '#/$defs/a~1b~0c%25', $defs: { 'a/b~c%': { const: 1 } } }, [1], [2]],
  ['$ref into a keyword nobody knows', { $ref: '#/shared/n', shared: { n: { type: 'number' } } }, [1], ['a']],
  ['$ref into definitions', { $ref: '#/definitions/n', definitions: { n: { type: 'number' } } }, [1], ['a']],
  ['$ref into a list', { allOf: [{ type: 'number' }], properties: { a: { $ref: '#/allOf/0' } } }, [1], ['a']],
  ['$anchor', { $ref: '#n', $defs: { x: { $anchor: 'n', type: 'number' } } }, [1], ['a']],
  [
    '$id and a relative $ref',
    { $id: 'https://example.com/root', $ref: 'item', $defs: { x: { $id: 'item', type: 'number' } } },
    [1],
    ['a'],
  ],
  [
    '$id that is a URN',
    {
      $id: 'urn:uuid:a',
      $ref: 'urn:uuid:b',
      $defs: { x: { $id: 'urn:uuid:b', $ref: '#/$defs/y', $defs: { y: { type: 'number' } } } },
    },
    [1],
    ['a'],
  ],
  [
    '$dynamicRef to the one place',
    { $dynamicRef: '#n', $defs: { x: { $dynamicAnchor: 'n', type: 'number' } } },
    [1],
    ['a'],
  ],
  [
    '$dynamicRef to the outermost place',
    {
      $id: 'https://example.com/strict',
      $ref: 'tree',
      $dynamicAnchor: 'node',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $dynamicAnchor: 'node',
          properties: { v: true, kids: { type: 'array', items: { $dynamicRef: '#node' } } },
        },
      },
    },
    [{ v: 1, kids: [{ v: 2 }] }],
    [{ w: 1 }, { v: 1, kids: [{ w: 2 }] }],
  ],
  ['keywords nobody knows', { 'x-note': 1, deprecated: true, examples: [1], default: 5, $comment: 'c' }, [1, 'a'], []],
  [
    'keywords that are undefined',
    { type: 'string', minLength: undefined, items: { $id: undefined, $ref: undefined, $dynamicAnchor: undefined } },
    ['a'],
    [1],
  ],
  ['contentSchema', { contentMediaType: 'application/json', contentSchema: false }, ['{}'], []],
  ['a $ref inside const', { const: { $ref: '#/nowhere' } }, [{ $ref: '#/nowhere' }], [1]],
  ['a property called $ref', { properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 1 }]],
  ['format', { format: 'email' }, ['a@example.com', 1], ['a']],
  ['format that nobody knows', { format: 'uint64' }, ['a', 1], []],
]

describe.each(engines)('%s', (_, build) => {
  test.each(cases)('%s', (_name, schema, valid, invalid) => {
    const { validate } = build(schema)['~standard']
    for (const value of valid) expect(validate(value)).toStrictEqual({ value })
    for (const value of invalid) {
      const { issues } = validate(value)
      expect(issues?.length, JSON.stringify(value)).toBeGreaterThan(0)
      expect(issues).not.toContainEqual(expect.objectContaining({ message: 'does not match the schema' }))
    }
  })

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
    [
      'the closest of some alternatives',
      {
        oneOf: [
          { properties: { kind: { const: 'circle' }, radius: { type: 'number' } }, required: ['kind', 'radius'] },
          { properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
        ],
      },
      { kind: 'square', side: 'long' },
      [['side']],
    ],
  ])('the path leads to %s', (_name, schema, value, paths) => {
    expect(issuesOf(build(schema), value).map(({ path }) => path)).toStrictEqual(paths)
  })

  test('messages say what is wanted and never quote the value', () => {
    const schema = build({
      properties: {
        name: { type: 'string', minLength: 2 },
        size: { type: ['integer', 'null'], minimum: 1 },
        unit: { enum: ['m', 'kg'] },
        when: { anyOf: [{ format: 'date' }, { const: 'now' }] },
      },
      required: ['id'],
    })
    const secret = 'hunter2'
    const told = issuesOf(schema, { name: 1, size: 0, unit: secret, when: secret })
    expect(told.map(({ path, message }) => `${path?.join('.')} ${message}`).sort()).toEqual([
      'id is required',
      'name must be a string',
      'size must be at least 1',
      'unit must be one of "m", "kg"',
      'when must be in the format "date" or must be "now"',
    ])
  })

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
  ])('alternatives %j meet %j with one issue', (schema, value, message, path) => {
    expect(issuesOf(build(schema), value)).toEqual([{ message, path }])
  })

  test('no more than twenty issues are told', () => {
    expect(
      issuesOf(
        build({ items: { type: 'string' } }),
        Array.from({ length: 10_000 }, () => 1),
      ),
    ).toHaveLength(20)
  })

  test('alternatives within alternatives take no exponential time', () => {
    const operation = (op: string) => ({
      properties: { args: { items: { $ref: '#' } }, op: { const: op } },
      required: ['op'],
    })
    const schema = build({ type: 'object', anyOf: [operation('and'), operation('or'), operation('not')] })
    const nest = (leaf: unknown) => Array.from({ length: 30 }).reduce((inner) => ({ op: 'not', args: [inner] }), leaf)
    expect(issuesOf(schema, nest({ op: 'not' }))).toEqual([])
    expect(issuesOf(schema, nest({ op: 'nor' }))[0]?.path).toHaveLength(61)
  })

  test('a schema that multiplies is followed once for each value', () => {
    const levels = Array.from({ length: 60 }, (_, n) => [
      `l${n}`,
      { allOf: Array(2).fill({ $ref: `#/$defs/l${n + 1}` }) },
    ])
    const schema = build({ $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l60: { type: 'object' } } })
    expect(issuesOf(schema, {})).toEqual([])
    expect(issuesOf(schema, 1)).toEqual([{ message: 'must be an object', path: [] }])
  })

  test('a value too deep to be checked does not pass, and does not throw', () => {
    const deep = Array.from({ length: 100_000 }).reduce((inner) => [inner], [] as unknown)
    const around: unknown[] = []
    around.push(around)
    for (const value of [deep, around])
      expect(issuesOf(build({ items: { $ref: '#' } }), value)[0]?.message).toMatch(/too deep/)
  })

  test('a pattern that is not plainly linear only meets short strings', () => {
    const short = build({ pattern: '^(?:ab)+$' })
    expect(issuesOf(short, 'ab'.repeat(2_048))).toEqual([])
    expect(issuesOf(short, 'ab'.repeat(2_049))).not.toEqual([])
    expect(issuesOf(build({ pattern: '^[A-Za-z0-9+/]*={0,2}$' }), 'A'.repeat(1_000_000))).toEqual([])
    const names = build({ patternProperties: { '^(?:ab)+$': true }, additionalProperties: true })
    expect(issuesOf(names, { ['ab'.repeat(3_000)]: 1 })).not.toEqual([])
  })

  test('formats are only noted where the standard is asked for', () => {
    expect(issuesOf(build({ format: 'email' }, { format: 'note' }), 'a')).toEqual([])
  })
})

describe('schemas that are refused', () => {
  const nested = (levels: number) =>
    Array.from({ length: levels }).reduce((inner) => ({ not: inner }), {} as object) as object

  test.each<readonly [string, unknown, string]>([
    ['a number', 1, 'at #: a schema must be an object, true or false'],
    ['null', null, 'at #: a schema must be'],
    ['a list', [], 'at #: a schema must be'],
    ['a string for a schema', { properties: { a: 'string' } }, 'at #/properties/a: a schema must be'],
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
    ['a $ref to no anchor', { $ref: '#a' }, 'at #: "#a" points to nothing'],
    ['a $ref to something else', { $ref: '#/title', title: 'a' }, 'at #/title: a schema must be'],
    ['a $ref that is no URI', { $ref: 'http://[' }, 'is no URI reference'],
    ['a $ref with a bad escape', { $ref: '#/%zz' }, 'is no URI reference'],
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'convert the schema or remove "$schema"'],
    ['a dialect of its own', { $schema: 'https://example.com/meta' }, 'convert the schema or remove "$schema"'],
    ['another dialect further down', { $defs: { a: { $schema: 'urn:x' } } }, 'at #/$defs/a: "$schema" is "urn:x"'],
    ['$ref to itself', { $ref: '#' }, 'refers to itself for the same value'],
    [
      '$ref around in place',
      { anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#' } } } },
      'refers to itself',
    ],
    [
      'two schemas with one $id',
      { $defs: { a: { $id: 'x' }, b: { $id: 'x' } } },
      'at #/$defs/b: a second schema is called',
    ],
    [
      'two schemas with one $anchor',
      { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
      'at #/$defs/b: a second schema',
    ],
    ['an $id with a fragment', { $id: 'https://example.com/#a' }, '"$id" must not have a fragment'],
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
    ['a pattern that does not compile', { pattern: '(' }, 'the pattern "(" is no regular expression'],
    ['a pattern that is not Unicode', { properties: { a: { pattern: '\\-' } } }, 'at #/properties/a: the pattern'],
    ['a name pattern that does not compile', { patternProperties: { '[': true } }, 'is no regular expression'],
    ['a very long pattern', { pattern: 'a'.repeat(3_000) }, 'is longer than 2048'],
    ['nesting past 64', nested(65), 'nested deeper than 64'],
    [
      'a circle of objects',
      (() => {
        const a: Record<string, unknown> = {}
        a['not'] = a
        return a
      })(),
      'nested deeper than 64',
    ],
    [
      'a deep constant',
      { const: Array.from({ length: 100 }).reduce((inner) => [inner], 1 as unknown) },
      '"const" must be a value of at most 64',
    ],
    ['what JSON cannot hold', { default: 1n }, 'at #: it cannot be written as JSON'],
    ['10,001 subschemas', { anyOf: Array.from({ length: 10_000 }, () => ({})) }, 'more than 10000 subschemas'],
  ])('%s', (_name, schema, problem) => {
    expect(() => jsonSchema(schema as object)).toThrow(problem)
  })

  test('64 levels and 10,000 subschemas are still taken', () => {
    expect(issuesOf(jsonSchema(nested(64)), 1)).toEqual([])
    const properties = Object.fromEntries(Array.from({ length: 9_999 }, (_, n) => [`p${n}`, { type: 'string' }]))
    expect(issuesOf(jsonSchema({ properties }), { p9998: 1 })).toEqual([
      { message: 'must be a string', path: ['p9998'] },
    ])
  })

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
  ])('the pattern %s, which may run for years', (pattern) => {
    expect(() => jsonSchema({ pattern })).toThrow('repeats a repetition')
    expect(() => jsonSchema({ patternProperties: { [pattern]: true } })).toThrow('repeats a repetition')
  })

  test.each([
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    '^\\d{1,3}(\\.\\d{1,3}){3}$',
    '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$',
    '^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$',
    '^[(+)*]+$',
    '\\(a+\\)+',
  ])('but not %s', (pattern) => {
    expect(() => jsonSchema({ pattern })).not.toThrow()
  })
})

describe('as a Standard Schema', () => {
  const schema = {
    $schema: dialect,
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
})

test('where code generation is refused from the start, everything still works', () => {
  const script = `
    const { jsonSchema } = await import(${JSON.stringify(new URL('./json-schema.ts', import.meta.url).href)})
    const { validate } = jsonSchema({ properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } })['~standard']
    let refused = false
    try { new Function('') } catch { refused = true }
    console.log(JSON.stringify([refused, validate({ a: 1 }), validate({ a: 'x' })]))`
  const flags = [
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
  ]
  expect(JSON.parse(execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' }))).toEqual([
    true,
    { value: { a: 1 } },
    { issues: [{ message: 'must be a number', path: ['a'] }] },
  ])
})

describe('both engines', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(null, true, 0, 1, 2.5, -3, '', 'a', 'abc', '👋'),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(name, tie('any'), { maxKeys: 3 }),
    ),
  })).any
  const keyword = (schema: fc.Arbitrary<unknown>): fc.Arbitrary<object> => {
    const few = fc.array(schema, { minLength: 1, maxLength: 3 })
    const some = fc.dictionary(name, schema, { maxKeys: 3 })
    const small = fc.integer({ min: 0, max: 3 })
    const names = fc.uniqueArray(name, { maxLength: 3 })
    return fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', ['null', 'boolean']) }),
      fc.record({ const: value }),
      fc.record({ enum: fc.array(value, { maxLength: 3 }) }),
      fc.record({ minimum: small }, { requiredKeys: [] }),
      fc.record({ minLength: small, maxLength: small }, { requiredKeys: [] }),
      fc.record({ minItems: small, maxItems: small, uniqueItems: fc.boolean() }, { requiredKeys: [] }),
      fc.record({ minProperties: small, maxProperties: small }, { requiredKeys: [] }),
      fc.record({ pattern: fc.constantFrom('a', '^b', '[bc]') }),
      fc.record({ required: names, dependentRequired: fc.dictionary(name, names) }, { requiredKeys: [] }),
      fc.record(
        {
          properties: some,
          patternProperties: fc.dictionary(fc.constantFrom('a', '[bc]'), schema),
          additionalProperties: schema,
        },
        { requiredKeys: [] },
      ),
      fc.record({ propertyNames: schema, dependentSchemas: some }, { requiredKeys: [] }),
      fc.record({ prefixItems: few, items: schema, contains: schema }, { requiredKeys: [] }),
      fc.record({ contains: schema, minContains: small, maxContains: small }, { requiredKeys: [] }),
      fc.record({ allOf: few, anyOf: few, oneOf: few, not: schema }, { requiredKeys: [] }),
      fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: [] }),
      fc.record({ unevaluatedProperties: schema, unevaluatedItems: schema }, { requiredKeys: [] }),
      fc.constantFrom({ $ref: '#/$defs/a' }, { items: { $ref: '#' } }, { additionalProperties: { $ref: '#/$defs/a' } }),
    )
  }
  const schemas = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.boolean(),
      fc.array(keyword(tie('node')), { minLength: 1, maxLength: 3 }).map((parts) => Object.assign({}, ...parts)),
    ),
  })).node
  const documents = fc
    .tuple(schemas, schemas)
    .map(([root, a]) => (typeof root === 'boolean' ? { allOf: [root] } : { ...(root as object), $defs: { a } }))

  test('agree on every value', () => {
    fc.assert(
      fc.property(documents, fc.array(value, { minLength: 1, maxLength: 10 }), (schema, values) => {
        const built = engines.map(([, build]) => tryTo(() => build(schema)))
        const [compiled, interpreted] = built
        if (!compiled || !interpreted) expect(built).toEqual([undefined, undefined])
        else for (const each of values) expect(issuesOf(compiled, each)).toEqual(issuesOf(interpreted, each))
      }),
      { numRuns: 1_000 },
    )
  })
  /** A schema made at random may point in circles, or to a `$defs` that a boolean root does not have. */
  const tryTo = <T>(build: () => T): T | undefined => {
    try {
      return build()
    } catch (error) {
      expect(String(error)).toMatch(/^TypeError: JSON Schema at #.*(refers to itself|points to nothing)/)
      return undefined
    }
  }
})
