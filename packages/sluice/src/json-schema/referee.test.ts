// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
/**
 * Compares `jsonSchema` with Ajv, an independent implementation, on random schemas and values. `contains` is left out,
 * because beside `prefixItems` Ajv accepts an empty list for it, unlike the official suite.
 */
import { execFileSync } from 'node:child_process'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonSchema } from './index.ts'

test('it needs no code generation', () => {
  const script = `
    const { jsonSchema } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
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

describe('the verdict is the same as that of Ajv', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(null, true, 0, 1, 2.5, -3, '', 'a', 'abc', '👋'),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).any
  const keyword = (schema: fc.Arbitrary<unknown>, only: fc.Arbitrary<object>, defs: string): fc.Arbitrary<object> => {
    const few = fc.array(schema, { minLength: 1, maxLength: 3 })
    const some = fc.dictionary(name, schema, { maxKeys: 3 })
    const small = fc.integer({ min: 0, max: 3 })
    const names = fc.uniqueArray(name, { maxLength: 3 })
    return fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', ['null', 'boolean']) }),
      fc.record({ const: value }),
      fc.record({
        enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
      }),
      fc.record({ minimum: small }, { requiredKeys: [] }),
      fc.record({ minLength: small, maxLength: small }, { requiredKeys: [] }),
      fc.record({ minItems: small, maxItems: small, uniqueItems: fc.boolean() }, { requiredKeys: [] }),
      fc.record({ minProperties: small, maxProperties: small }, { requiredKeys: [] }),
      fc.record({ pattern: fc.constantFrom('a', '^b', '[bc]') }),
      fc.record({ required: names }),
      only,
      fc.record(
        {
          properties: some,
          patternProperties: fc.dictionary(fc.constantFrom('a', '[bc]'), schema),
          additionalProperties: schema,
        },
        { requiredKeys: [] },
      ),
      fc.record({ propertyNames: schema, items: schema }, { requiredKeys: [] }),
      fc.record({ allOf: few, anyOf: few, oneOf: few, not: schema }, { requiredKeys: [] }),
      fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: [] }),
      fc.constantFrom(
        { $ref: `#/${defs}/a` },
        { items: { $ref: '#' } },
        { additionalProperties: { $ref: `#/${defs}/a` } },
      ),
    )
  }
  const documents = (defs: string, only: (schema: fc.Arbitrary<unknown>) => fc.Arbitrary<object>) => {
    const schemas = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.boolean(),
        fc
          .array(keyword(tie('node'), only(tie('node')), defs), { minLength: 1, maxLength: 3 })
          .map((parts) => Object.assign({}, ...parts)),
      ),
    })).node
    return fc
      .tuple(schemas, schemas)
      .map(([root, a]) => ({ ...(typeof root === 'boolean' ? { allOf: [root] } : (root as object)), [defs]: { a } }))
  }
  const names = fc.uniqueArray(name, { maxLength: 3 })
  const drafts = [
    {
      draft: '2020-12',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      referee: Ajv2020,
      documents: documents('$defs', (schema) =>
        fc.oneof(
          fc.record({ dependentRequired: fc.dictionary(name, names) }),
          fc.record({ dependentSchemas: fc.dictionary(name, schema, { maxKeys: 3 }) }),
          fc.record(
            { prefixItems: fc.array(schema, { minLength: 1, maxLength: 3 }), items: schema },
            { requiredKeys: ['prefixItems'] },
          ),
          fc.record({ unevaluatedProperties: schema }),
          fc.record({ unevaluatedItems: schema }),
        ),
      ),
    },
    {
      draft: 'draft-07',
      $schema: 'http://json-schema.org/draft-07/schema#',
      referee: Ajv,
      documents: documents('definitions', (schema) =>
        fc.oneof(
          fc.record({ dependencies: fc.dictionary(name, fc.oneof(names, schema), { maxKeys: 3 }) }),
          fc.record(
            { items: fc.array(schema, { minLength: 1, maxLength: 3 }), additionalItems: schema },
            { requiredKeys: ['items'] },
          ),
        ),
      ),
    },
  ]

  test.each(drafts)('in $draft', ({ $schema, referee: Referee, documents }) => {
    let compared = 0
    fc.assert(
      fc.property(documents, fc.array(value, { minLength: 1, maxLength: 10 }), (document, values) => {
        const schema = { $schema, ...document }
        const { validate } = jsonSchema(schema)['~standard']
        if (verdictOf(() => validate(null)) === undefined) return
        const ajv = new Referee({
          strict: false,
          validateFormats: false,
          ignoreKeywordsWithRef: $schema.includes('draft-07'),
        })
        const expected = ajv.compile(schema)
        for (const each of values) {
          expect(
            verdictOf(() => validate(each)),
            JSON.stringify({ schema, each }),
          ).toBe(expected(each))
          compared += 1
        }
      }),
      { numRuns: 150 },
    )
    expect(compared).toBeGreaterThan(500)
  })

  /** Returns `undefined` for a schema that is refused, because a random schema may refer to itself. */
  function verdictOf(validate: () => { readonly issues?: unknown }): boolean | undefined {
    try {
      return validate().issues === undefined
    } catch (error) {
      expect(String(error)).toMatch(/^TypeError: JSON Schema at #.*(refers to itself|points to nothing)/)
      return undefined
    }
  }
})
