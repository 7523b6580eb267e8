// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile } from './compile.ts'
import { link } from './link.ts'
import { walk } from './walk.ts'

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

test('where code generation is refused it cannot tell', () => {
  const linked = link({ type: 'string' })
  expect(compile(linked)('a')).toBe(true)
  expect(withoutCodeGeneration(() => compile(linked))('a')).toBeUndefined()
})

test.each([
  { required: ['toString'] },
  { properties: { a: { properties: { constructor: true } } } },
  { patternProperties: { a: true } },
  { contains: true, minContains: 2 },
  { unevaluatedItems: false },
])('it does not judge %j, which it would read differently', (schema) => {
  expect(compile(link(schema))({})).toBeUndefined()
})

test('where code generation is refused from the start, everything still works', () => {
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

describe('code and walk', () => {
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
        const linked = tryTo(() => link(schema))
        if (!linked) return
        const [check, findIssues] = [compile(linked), walk(linked)]
        for (const each of values) {
          const verdict = check(each)
          if (verdict !== undefined) expect(findIssues(each) === undefined).toBe(verdict)
        }
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
