// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'

const validatorOf = (schema: object | boolean) => (value: unknown) =>
  jsonSchema(schema)['~standard'].validate(value).issues

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
  ['minLength beyond any string', { minLength: 2 ** 31 }, [1], ['a']],
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
    '$ref in a cycle',
    {
      $ref: '#/$defs/a',
      $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { type: 'array', items: { $ref: '#/$defs/a' } } },
    },
    [[], [[]], [[[[]]]]],
    [[1], [[[1]]]],
  ],
  ['$ref to false', { properties: { a: { $ref: '#/$defs/no' } }, $defs: { no: false } }, [{}], [{ a: 1 }]],
  ['$ref with escapes', { $ref: '#/$defs/a~1b~0c%25', $defs: { 'a/b~c%': { const: 1 } } }, [1], [2]],
  ['$ref into an unknown keyword', { $ref: '#/shared/n', shared: { n: { type: 'number' } } }, [1], ['a']],
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
    '$dynamicRef to the only anchor',
    { $dynamicRef: '#n', $defs: { x: { $dynamicAnchor: 'n', type: 'number' } } },
    [1],
    ['a'],
  ],
  [
    '$dynamicRef to the outermost anchor',
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
  ['unknown keywords', { 'x-note': 1, deprecated: true, examples: [1], default: 5, $comment: 'c' }, [1, 'a'], []],
  ['contentSchema', { contentMediaType: 'application/json', contentSchema: false }, ['{}'], []],
  ['a $ref inside const', { const: { $ref: '#/nowhere' } }, [{ $ref: '#/nowhere' }], [1]],
  ['a property called $ref', { properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 1 }]],
  ['format', { format: 'email' }, ['a@example.com', 1], ['a']],
  ['an unknown format', { format: 'uint64' }, ['a', 1], []],
]

test.each(cases)('%s', (_name, schema, valid, invalid) => {
  const findIssues = validatorOf(schema)
  for (const value of valid) {
    expect(findIssues(value), JSON.stringify(value)).toBeUndefined()
  }
  for (const value of invalid) {
    expect(findIssues(value)?.length, JSON.stringify(value)).toBeGreaterThan(0)
    expect(findIssues(value)).not.toContainEqual(expect.objectContaining({ message: 'does not match the schema' }))
  }
})

test('an undefined member is missing, as it will be in JSON', () => {
  const findIssues = validatorOf({ properties: { a: { type: 'string' } }, required: ['a'] })
  expect(findIssues({ a: undefined })).toEqual([{ message: 'is required', path: ['a'] }])
})
