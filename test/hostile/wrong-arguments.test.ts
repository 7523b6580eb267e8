/** The cost of one wrong call: schema libraries create an issue for every wrong value, so they see only a few. */

import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { defineServer, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { createServer } from 'sluice/node'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { isObject } from '../../packages/sluice/src/core/json.ts'
import type { Schema } from '../../packages/sluice/src/protocol/schema.ts'

const jsonList = {
  type: 'object',
  properties: { list: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] } } },
  required: ['list'],
  $defs: {
    a: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    b: { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
  },
} as const

/** A list of objects of two kinds, in each library. */
const schemas: readonly (readonly [library: string, schema: Schema])[] = [
  ['Zod', z.object({ list: z.array(z.union([z.object({ a: z.string() }), z.object({ b: z.number() })])) })],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({ list: v.array(v.union([v.object({ a: v.string() }), v.object({ b: v.number() })])) }),
    ),
  ],
  ['ArkType', type({ list: type({ a: 'string' }).or({ b: 'number' }).array() })],
  ['JSON Schema', jsonSchema(jsonList)],
]

describe.each(schemas)('%s', (_, schema) => {
  /** Counts the issues that the library created, call by call. */
  function serving() {
    const issues: number[] = []
    const seen: Schema = {
      '~standard': {
        ...schema['~standard'],
        validate(value) {
          const result = schema['~standard'].validate(value)
          if (!(result instanceof Promise)) issues.push(result.issues?.length ?? 0)
          return result
        },
      },
    }
    const counting = tool({ name: 'count', description: 'Counts', input: seen, run: () => 'counted' })
    const server = createServer(defineServer({ name: 'x', version: '1', tools: [counting] }))
    const call = async (list: readonly unknown[]) => {
      const params = { name: 'count', arguments: { list } }
      const answer = await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      return isObject(answer) ? answer['result'] : undefined
    }
    return { issues, call }
  }
  const right = Array.from({ length: 3_000 }, () => ({ a: 'x' }))

  test.each([
    ['nothing in them', right.map(() => ({}))],
    ['texts instead', right.map(() => 'x')],
    ['a wrong type in each', right.map(() => ({ b: 'x' }))],
    ['the second half wrong', right.map((item, at) => (at < 1_500 ? item : {}))],
  ])('of 3,000 items with %s, only a few become issues', async (_, list) => {
    const { issues, call } = serving()
    expect(await call(list)).toMatchObject({
      isError: true,
      _meta: { 'dev.sluice/error': { reason: 'invalidArguments', issues: { length: 10 } } },
    })
    for (const made of issues) expect(made).toBeLessThanOrEqual(100)
  })

  test('a large valid call runs', async () => {
    const { issues, call } = serving()
    expect(await call(right)).toMatchObject({ isError: false })
    expect(issues).toEqual([0])
  })

  test('a large call with a few errors is refused with the texts of its library', async () => {
    const { issues, call } = serving()
    expect(await call(right.map((item, at) => (at % 1_000 === 0 ? {} : item)))).toMatchObject({ isError: true })
    expect(issues).toHaveLength(1)
  })
})

describe('constraints that the published schema cannot express', () => {
  const list = Array.from({ length: 9_000 }, () => 'x')
  async function checksOf(make: (isFit: (value: string) => boolean) => Schema): Promise<number> {
    let checks = 0
    const input = make((value) => {
      checks++
      return value === 'right'
    })
    const taking = tool({ name: 'take', description: 'Takes', input, run: () => 'taken' })
    const server = createServer(defineServer({ name: 'x', version: '1', tools: [taking] }))
    const params = { name: 'take', arguments: { list } }
    expect(await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })).toMatchObject({
      result: { isError: true, _meta: { 'dev.sluice/error': { reason: 'invalidArguments' } } },
    })
    return checks
  }

  test('Zod stops soon after the hundredth wrong alternative', async () => {
    const checks = await checksOf((isFit) =>
      z.object({ list: z.array(z.union([z.string().refine(isFit), z.string().refine(isFit)])) }),
    )
    expect(checks).toBeLessThanOrEqual(300)
  })

  test('ArkType stops at the first wrong value', async () => {
    const checks = await checksOf((isFit) => type({ list: type('string').narrow(isFit).array() }))
    expect(checks).toBe(1)
  })

  const item = (isFit: (value: string) => boolean) =>
    v.union([
      v.pipe(
        v.string(),
        v.email(({ input }) => `${input} is ${isFit(input)}`),
      ),
      v.never(),
    ])
  test.each<readonly [string, (isFit: (value: string) => boolean) => Schema]>([
    ['', (isFit) => toStandardJsonSchema(v.object({ list: v.array(item(isFit)) }))],
    [
      ' in a pipe',
      (isFit) => toStandardJsonSchema(v.pipe(v.object({ list: v.array(item(isFit)) }), v.description('A list'))),
    ],
    [
      ' in a recursive schema',
      (isFit) => {
        const node: v.GenericSchema<{ list: string[]; more?: object | undefined }> = v.object({
          list: v.array(item(isFit)),
          more: v.optional(v.lazy(() => node)),
        })
        return toStandardJsonSchema(node)
      },
    ],
  ])('Valibot stops at the first wrong value%s', async (_, make) => {
    expect(await checksOf(make)).toBe(1)
  })
})

const filledIn = v.object({ list: v.array(v.string()), more: v.optional(v.string(), 'filled in') })
test.each([
  ['schema', filledIn, '300 filled in'],
  [
    'pipe',
    v.pipe(
      filledIn,
      v.transform(({ list, more }) => ({ list, more: `${more}, changed` })),
    ),
    '300 filled in, changed',
  ],
])('a large valid Valibot call runs on the output of its %s', async (_, schema, text) => {
  const input = toStandardJsonSchema(schema)
  const taking = tool({ name: 'take', description: 'Takes', input, run: ({ list, more }) => `${list.length} ${more}` })
  const server = createServer(defineServer({ name: 'x', version: '1', tools: [taking] }))
  const params = { name: 'take', arguments: { list: Array.from({ length: 300 }, () => 'right') } }
  expect(await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })).toMatchObject({
    result: { isError: false, content: [{ text }] },
  })
})

test('a large Zod schema with asynchronous checks still runs them', async () => {
  const input = z.object({ list: z.array(z.string().refine(async (value) => value === 'right')) })
  const taking = tool({ name: 'take', description: 'Takes', input, run: () => 'taken' })
  const server = createServer(defineServer({ name: 'x', version: '1', tools: [taking] }))
  const params = { name: 'take', arguments: { list: Array.from({ length: 300 }, () => 'right') } }
  expect(await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })).toMatchObject({
    result: { isError: false, content: [{ text: 'taken' }] },
  })
})
