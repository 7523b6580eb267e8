import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../core/digest.ts'
import { textLinesOf } from './definition-text.ts'

const names = fc.oneof(fc.constantFrom('a', 'b', 'a:', '-', 'a: b', ''), fc.string())
const texts = fc.oneof(
  fc.constantFrom('', '1', 'true', 'null', '|', '- a', 'a: b', 'a\nb: c', '"x"', '{}', '[]'),
  fc.string(),
)
const { definition: definitions } = fc.letrec<{ value: unknown; definition: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('definition'),
  ),
  definition: fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}))

test('two definitions have the same lines only if they are the same', () => {
  const seen = new Map<string, string>()
  fc.assert(
    fc.property(definitions, (definition) => {
      const lines = textLinesOf({ definition })
      for (const line of lines) expect(line).not.toContain('\n')
      const [text, json] = [lines.join('\n'), canonicalJson(definition)]
      expect(seen.get(text) ?? json).toBe(json)
      seen.set(text, json)
    }),
    { numRuns: 3000 },
  )
  expect(seen.size).toBeGreaterThan(300)
})

test('a reader finds the name, the texts and the schema first', () => {
  const inputSchema = { type: 'object', properties: { 'a b': { const: '1' } } }
  const definition = { _meta: {}, inputSchema, description: 'One\nTwo', title: 'T', name: 'pay' }
  expect(textLinesOf({ definition, fixed: [{ fixed: { account: 7 } }] })).toEqual([
    ...['name: pay', 'title: T', 'description: |', '  One', '  Two', 'inputSchema:', '  properties:'],
    ...['    "a b":', '      const: "1"', '  type: object', '_meta: {}'],
    ...['arguments set by rules:', '  -', '    fixed:', '      account: 7'],
  ])
})
