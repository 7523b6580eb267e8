import { decode } from '@toon-format/toon'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Result } from '../core/answer.ts'
import { fail } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { jsonSchema } from '../json-schema/index.ts'
import { aCall } from '../testing/call.ts'
import { testClient } from '../testing/client.ts'
import { toon } from '../toon.ts'
import { defineServer } from './definition.ts'
import { formatArgument } from './format.ts'
import type { RevisionName } from './revisions.ts'
import { tool } from './tools.ts'

const rides = [
  { id: 1, type: 'ride', at: { lat: 50.1, lon: 14.4 } },
  { id: 2, type: 'run', at: { lat: 49.2, lon: 16.6 } },
]
const inToon = 'activities[2]{id,type,at{lat,lon}}:\n  1,ride,50.1,14.4\n  2,run,49.2,16.6'

const activities = tool({
  name: 'activities',
  description: 'What was done in a year',
  input: z.strictObject({ year: z.number() }),
  format: toon,
  run: ({ year }) => {
    if (year < 2000) throw fail('Too long ago')
    return { activities: rides }
  },
})
const serving = (revision: RevisionName = '2026-07-28') =>
  testClient(defineServer({ name: 't', version: '1', tools: [activities] }), { revision })
const textOf = (result: Params): string => {
  const [block] = result['content'] as readonly { text: string }[]
  return block?.text ?? ''
}

test('the text is TOON; without an output schema structuredContent is left out', async () => {
  const client = await serving()
  const plain = await client.call('activities', { year: 2026 })
  const result = await client.call('activities', { year: 2026, format: 'toon' })
  expect(result['content']).toEqual([{ type: 'text', text: inToon, _meta: { 'dev.sluice/mimeType': 'text/toon' } }])
  expect(result).not.toHaveProperty('structuredContent')
  expect(plain['structuredContent']).toEqual({ activities: rides })
  expect(plain['content']).toEqual([{ type: 'text', text: JSON.stringify({ activities: rides }) }])
})

test.each([{ format: 'TOON' }, { output_format: 'Toon' }, { format: 'toon', output_format: 'json' }])(
  '%j asks for TOON',
  async (asked) => {
    expect(textOf(await (await serving()).call('activities', { year: 2026, ...asked }))).toBe(inToon)
  },
)

test.each([
  {},
  { format: 'json' },
  { format: 'yaml' },
  { format: 1 },
  { format: null },
  { format: ['toon'] },
  { format: 'json', output_format: 'toon' },
])('%j means JSON', async (asked) => {
  const text = textOf(await (await serving()).call('activities', { year: 2026, ...asked }))
  expect(JSON.parse(text)).toEqual({ activities: rides })
})

test('a revision without _meta on blocks gets the text alone', async () => {
  const result = await (await serving('2024-11-05')).call('activities', { year: 2026, format: 'toon' })
  expect(result['content']).toEqual([{ type: 'text', text: inToon }])
})

test('errors are never in TOON', async () => {
  const client = await serving()
  expect(await client.call('activities', { year: 1999, format: 'toon' })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'Too long ago' }],
  })
  const refused = await client.call('activities', { year: 'x', format: 'toon' })
  expect(textOf(refused)).toContain('Invalid params for activities')
})

test('the argument is listed for tools that opt in, and the tool itself never receives it', async () => {
  const schema = activities.entry.inputSchema
  expect(schema['properties']).toMatchObject({ year: {}, format: { enum: ['json', 'toon'] } })
  expect(schema['properties']).not.toHaveProperty('output_format')
  const plain = tool({ name: 'plain', description: 'No format', input: z.strictObject({}), run: () => ({ a: 1 }) })
  expect(plain.entry.inputSchema['properties']).toEqual({})
  expect(plain.prepare({ format: 'toon' })).toHaveProperty('issues')
  let seen: unknown
  const loose = tool({
    name: 'loose',
    description: 'Takes anything',
    input: z.looseObject({}),
    format: toon,
    run: (input) => {
      seen = input
      return {}
    },
  })
  const ready = await loose.prepare({ format: 'toon', output_format: 'toon', other: 1 })
  if ('issues' in ready) expect.unreachable()
  else await ready.run(aCall(), {})
  expect(seen).toEqual({ other: 1 })
})

test('a tool without arguments accepts this one', async () => {
  const now = tool({ name: 'now', description: 'The time', format: toon, run: () => ({ hour: 12 }) })
  expect(now.entry.inputSchema).toMatchObject({ additionalProperties: false, properties: { format: {} } })
  const ready = await now.prepare({ format: 'toon' })
  if ('issues' in ready) return expect.unreachable()
  expect(await ready.run(aCall(), {})).toMatchObject({ content: [{ text: 'hour: 12' }] })
  expect(await now.prepare({ format: 'toon', other: 1 })).toHaveProperty('issues')
})

test.each(['format', 'output_format'])('a tool that already has an argument %s cannot opt in', (name) => {
  const input = z.object({ [name]: z.string() })
  const clash = () => tool({ name: 'export', description: 'Writes', input, format: toon, run: () => '' })
  expect(clash).toThrow(`tool "export", input: "${name}"`)
  expect(() => tool({ name: 'export', description: 'Writes', input, run: () => '' })).not.toThrow()
})

test('a schema that may hide such an argument cannot opt in', () => {
  const parts = [{ properties: { format: { type: 'string' } } }]
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', '$ref'])
    expect(() => formatArgument.extend({ type: 'object', [keyword]: parts }, 'here')).toThrow(`behind "${keyword}"`)
})

test('with an output schema structuredContent is checked and sent', async () => {
  const counted = tool({
    name: 'counted',
    description: 'Counts',
    input: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    output: z.object({ rows: z.array(z.object({ a: z.number() })) }),
    format: toon,
    run: ({ n }) => ({ rows: [{ a: n }, { a: n + 1 }] }),
  })
  const ready = await counted.prepare({ n: 1, format: 'toon' })
  if ('issues' in ready) return expect.unreachable()
  expect(await ready.run(aCall(), {})).toMatchObject({
    content: [{ text: 'rows[2]{a}:\n  1\n  2' }],
    structuredContent: { rows: [{ a: 1 }, { a: 2 }] },
  })
})

const structured = (value: unknown, more: Params = {}): Result => ({
  content: [{ type: 'text', text: JSON.stringify(value), ...more }],
  structuredContent: value,
  isError: false,
})
const blockOf = (result: Result): Params => {
  const [block] = result['content'] as readonly Params[]
  return block ?? {}
}

test('text and blocks that the tool returns are not changed', () => {
  for (const result of [
    { content: [{ type: 'text', text: 'two rides' }], isError: false },
    { content: [{ type: 'text', text: 'two rides' }], structuredContent: { rides }, isError: false },
    { ...structured({ rides }), isError: true },
  ])
    for (const hasSchema of [true, false]) expect(toon(result, hasSchema)).toEqual(result)
})

test('annotations of a block are kept', () => {
  const block = blockOf(toon(structured({ a: 1 }, { annotations: { priority: 1 }, _meta: { own: 1 } }), false))
  expect(block).toMatchObject({ annotations: { priority: 1 }, _meta: { own: 1, 'dev.sluice/mimeType': 'text/toon' } })
})

test('the text decodes to exactly what JSON would have contained', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
      const { text } = blockOf(toon(structured(value), false))
      expect(JSON.stringify(decode(String(text)))).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))))
    }),
  )
  const odd = { when: new Date(0), gone: undefined, none: Number.NaN }
  expect(decode(String(blockOf(toon(structured(odd), false))['text']))).toEqual(JSON.parse(JSON.stringify(odd)))
})

test.each([300, 1500])('data nested %i deep stays JSON, with a note', (depth) => {
  let value: Params = {}
  for (let level = 0; level < depth; level++) value = { a: [value] }
  const result = structured(value)
  expect(toon(result, false)['structuredContent']).toEqual(value)
  expect(blockOf(toon(result, false))).toEqual({
    ...blockOf(result),
    _meta: { 'dev.sluice/mimeType': 'application/json', 'dev.sluice/note': expect.stringContaining('JSON') },
  })
})
