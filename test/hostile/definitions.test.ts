/** Dangerous definitions are refused when they are written, and changed definitions are noticed. */

import { Socket } from 'node:net'
import type { Tool } from 'sluice'
import { defineServer, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { createServer } from 'sluice/node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { definitionHash } from '../../packages/sluice/src/core/definition-hash.ts'
import { callOf } from '../kit/clients/valid-messages.ts'

const define = (schema: object): Tool =>
  tool({ name: 'x', description: 'x', input: jsonSchema<object>(schema), run: () => 'ran' })
/** Names the tool to fix among fifty. */
const named = /^tool "x", input: /
const withProperty = (schema: object): object => ({ type: 'object', properties: { a: schema } })

describe('schemas', () => {
  const fetched = vi.fn()
  beforeEach(() => {
    fetched.mockReset()
    vi.stubGlobal('fetch', fetched)
    vi.spyOn(Socket.prototype, 'connect').mockImplementation(fetched)
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  test.each([
    ...[
      'http://evil.example/schema.json',
      'https://evil.example/schema.json',
      'https://json-schema.org/draft/2020-12/schema',
      'file:///etc/passwd',
      '//evil.example/x',
    ],
    ...[
      'http://169.254.169.254/latest',
      'ftp://x/y',
      'data:application/json,{}',
      'other.json',
      './other.json',
      '/etc/passwd',
      'urn:uuid:1',
      'schema.json#/$defs/a',
      '#/$defs/missing',
      '#missing',
    ],
  ])('a $ref to %s is refused, not fetched', (ref) => {
    expect(() => define(withProperty({ $ref: ref }))).toThrow(named)
    expect(() => define(withProperty({ items: { anyOf: [{ $ref: ref }] } }))).toThrow(named)
    expect(() =>
      define({ type: 'object', $defs: { a: { $ref: ref } }, properties: { b: { $ref: '#/$defs/a' } } }),
    ).toThrow(named)
    expect(fetched).not.toHaveBeenCalled()
  })

  test.each(['http://evil.example/x#d', 'file:///x'])('a $dynamicRef to %s is refused', (ref) => {
    expect(() => define(withProperty({ $dynamicRef: ref }))).toThrow(named)
  })

  test('a $ref from another schema library is refused too', () => {
    const foreign = {
      '~standard': {
        version: 1 as const,
        vendor: 'evil',
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => withProperty({ $ref: 'http://evil.example/x' }) as Record<string, unknown>,
          output: () => ({}),
        },
      },
    }
    expect(() => tool({ name: 'x', description: 'x', input: foreign, run: () => 'ran' })).toThrow(/points outside/)
  })

  test('a hundred thousand subschemas are refused, in width and in depth', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
    expect(() => define({ type: 'object', properties: wide })).toThrow(named)
    expect(() => define(withProperty({ anyOf: Array.from({ length: 100_000 }, () => ({ type: 'string' })) }))).toThrow(
      named,
    )
    let deep: object = { type: 'string' }
    for (let level = 0; level < 100_000; level++) deep = { items: deep }
    expect(() => define(withProperty(deep))).toThrow(named)
  })

  test('a schema from a library is refused if it is too large to list, in width and in depth', () => {
    const handing = (schema: object): Tool => {
      const json = (): Record<string, unknown> => ({ ...schema })
      const validate = (value: unknown): { value: unknown } => ({ value })
      const input = {
        '~standard': { version: 1 as const, vendor: 'other', validate, jsonSchema: { input: json, output: json } },
      }
      return tool({ name: 'x', description: 'x', input, run: () => 'ran' })
    }
    const nested = (levels: number): object => {
      let schema: object = { type: 'string' }
      for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } }
      return schema
    }
    expect(() => handing(withProperty({ enum: Array.from({ length: 300_000 }, (_, value) => value) }))).toThrow(named)
    expect(() => handing(nested(5_000))).toThrow(named)
    expect(() => handing(nested(100))).not.toThrow()
  })

  test('references that multiply are refused', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        level === 39
          ? { type: 'string' }
          : { allOf: Array.from({ length: 40 }, () => ({ $ref: `#/$defs/d${level + 1}` })) },
      ]),
    )
    const built = ((): Tool | undefined => {
      try {
        return define({ type: 'object', $defs, properties: { a: { $ref: '#/$defs/d0' } } })
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(TypeError)
        return undefined
      }
    })()
    // If it were accepted, a value would still be checked in bounded time.
    if (built) expect(built.prepare({ a: 1 })).toHaveProperty('issues')
  })

  test('a $ref that leads back to itself for the same value is refused', () => {
    expect(() => define({ type: 'object', $ref: '#' })).toThrow(TypeError)
    expect(() =>
      define({
        type: 'object',
        $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
        properties: { x: { $ref: '#/$defs/a' } },
      }),
    ).toThrow(TypeError)
    expect(() =>
      define({
        type: 'object',
        $defs: { a: { not: { $ref: '#/$defs/a' } } },
        properties: { x: { $ref: '#/$defs/a' } },
      }),
    ).toThrow(TypeError)
  })

  test('a $ref that leads further down is served, and a deep value does not crash it', async () => {
    const tree = define({
      type: 'object',
      $defs: {
        node: {
          type: 'object',
          properties: { next: { $ref: '#/$defs/node' }, v: { type: 'number' } },
          additionalProperties: false,
        },
      },
      properties: { root: { $ref: '#/$defs/node' } },
    })
    const server = createServer(defineServer({ name: 'x', version: '1', tools: [tree] }))
    const nested = (levels: number, bottom: unknown): object =>
      (levels === 0 ? { v: bottom } : { next: nested(levels - 1, bottom) }) as object
    expect(await server.handle(callOf(1, 'x', { root: nested(50, 1) }))).toMatchObject({ result: { isError: false } })
    expect(await server.handle(callOf(1, 'x', { root: nested(50, 'no number') }))).toMatchObject({
      result: { isError: true },
    })
    expect(await server.handle(callOf(1, 'x', { root: nested(2000, 'no number') }))).toHaveProperty('jsonrpc')
  })

  test.each([
    ...[
      'http://json-schema.org/draft-06/schema#',
      'http://json-schema.org/draft-04/schema',
      'https://json-schema.org/draft/2019-09/schema',
      'http://evil.example/dialect',
      'x',
      '',
    ],
  ])('the dialect %j is refused', (dialect) => {
    expect(() => define({ $schema: dialect, type: 'object' })).toThrow(named)
    expect(fetched).not.toHaveBeenCalled()
  })

  test.each([
    ['no object', { type: 'string' }],
    ['no type', { properties: {} }],
    ['a list of types', { type: ['object', 'null'] }],
    ['an unknown type', withProperty({ type: 'text' })],
    ['a minimum that is text', withProperty({ type: 'number', minimum: '3' })],
    ['properties that are a list', { type: 'object', properties: [] }],
    ['a property that is text', { type: 'object', properties: { a: 'string' } }],
    ['required that is text', { type: 'object', required: 'a' }],
    ['a pattern that is not a regular expression', withProperty({ pattern: '(' })],
    ['a pattern that refers back', withProperty({ pattern: '^(a+)\\1$' })],
    ['a pattern of names that looks behind', { type: 'object', patternProperties: { '(?<=a)b': true } }],
    [
      'two schemas of one name',
      withProperty({ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x', type: 'string' } }, $ref: '#x' }),
    ],
  ])('%s is refused', (_, schema) => {
    expect(() => define(schema)).toThrow(named)
  })

  test('a schema with a cycle of objects is refused, not followed for ever', () => {
    const circle: { [key: string]: unknown } = { type: 'object' }
    circle['properties'] = { a: circle }
    expect(() => define(circle)).toThrow(named)
  })

  test('changing the object after the definition has no effect', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
    const made = define(schema)
    const before = definitionHash(made)
    Object.assign(schema.properties.a, { type: 'number' })
    expect(made.prepare({ a: 1 })).toHaveProperty('issues')
    expect(JSON.stringify(made.entry)).toContain('"string"')
    expect(definitionHash(made)).toBe(before)
  })

  test('names of inherited members are ordinary names', async () => {
    const strange = define({
      type: 'object',
      properties: { constructor: { type: 'string' }, toString: { type: 'number' } },
      required: ['constructor'],
      additionalProperties: false,
    })
    expect(strange.prepare({})).toHaveProperty('issues')
    expect(strange.prepare({ constructor: 'a' })).not.toHaveProperty('issues')
    expect(strange.prepare({ constructor: 'a', toString: 'b' })).toHaveProperty('issues')
    expect(strange.prepare({ constructor: 'a', valueOf: 1 })).toHaveProperty('issues')
  })

  test('a value that is expensive to check is checked in bounded time', () => {
    const expensive = define(
      withProperty({
        type: 'array',
        items: { anyOf: Array.from({ length: 100 }, (_, index) => ({ const: { x: index } })) },
        uniqueItems: true,
      }),
    )
    // Comparing each with each other would exceed the test's time.
    const prepared = expensive.prepare({ a: Array.from({ length: 60_000 }, (_, index) => ({ x: 100 + index })) })
    expect(prepared).toHaveProperty('issues')
  })
})

describe('names and the rest', () => {
  test.each(['', ' ', 'a b', 'a/b', 'é', 'a'.repeat(129), 'a\n', 'a\0', '../x', '<script>', 'a,b', 'a:b', 'ｅcho'])(
    'the name %j is refused',
    (name) => {
      expect(() => tool({ name, description: 'x', run: () => 'x' })).toThrow(TypeError)
    },
  )

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', '.', '-', '0'])(
    'a tool called %s is itself and nothing inherited',
    async (name) => {
      const server = createServer(
        defineServer({
          name: 'x',
          version: '1',
          tools: [tool({ name, description: 'x', run: () => 'mine' })],
        }),
      )
      expect(await server.handle(callOf(1, name))).toMatchObject({ result: { content: [{ text: 'mine' }] } })
      const empty = createServer(defineServer({ name: 'x', version: '1', tools: [] }))
      expect(await empty.handle(callOf(1, name))).toMatchObject({ error: { code: -32602 } })
    },
  )

  test('two tools of one name are refused', () => {
    const one = tool({ name: 'a', description: 'x', run: () => 'x' })
    expect(() => defineServer({ name: 'x', version: '1', tools: [one, one] })).toThrow(/defined twice/)
  })

  test.each([
    ['in a list', z.object({ a: z.array(z.string().meta({ 'x-mcp-header': 'A' })) })],
    ['twice', z.object({ a: z.string().meta({ 'x-mcp-header': 'A' }), b: z.string().meta({ 'x-mcp-header': 'a' }) })],
    ['with a line break', z.object({ a: z.string().meta({ 'x-mcp-header': 'A\r\nX' }) })],
    ['with a colon', z.object({ a: z.string().meta({ 'x-mcp-header': 'A:b' }) })],
    ['empty', z.object({ a: z.string().meta({ 'x-mcp-header': '' }) })],
    ['on an object', z.object({ a: z.object({}).meta({ 'x-mcp-header': 'A' }) })],
    ['on a fraction', z.object({ a: z.number().meta({ 'x-mcp-header': 'A' }) })],
    ['behind a choice', z.object({ a: z.union([z.string().meta({ 'x-mcp-header': 'A' }), z.boolean()]) })],
  ])('x-mcp-header %s is refused', (_, input) => {
    expect(() => tool({ name: 'x', description: 'x', input, run: () => 'x' })).toThrow(/x-mcp-header/)
  })
})

describe('the hash of a definition', () => {
  const input = z.object({ a: z.string() })
  const base = { name: 'pay', description: 'Pays', input, scopes: ['pay'], run: () => 'paid' }

  test('is the same for the same definition, whatever the order it was written in', () => {
    expect(definitionHash(tool(base))).toBe(
      definitionHash(tool({ run: () => 'other code', scopes: ['pay'], input, description: 'Pays', name: 'pay' })),
    )
    expect(definitionHash(tool({ ...base, input: z.object({ a: z.string() }) }))).toBe(definitionHash(tool(base)))
    expect(definitionHash(tool(base))).toMatch(/^[0-9a-f]{64}$/)
  })

  const changes: readonly (readonly [string, () => Tool])[] = [
    ['name', () => tool({ ...base, name: 'pay2' })],
    ['description', () => tool({ ...base, description: 'Pays ' })],
    ['a description that looks the same', () => tool({ ...base, description: 'Ｐays' })],
    ['an invisible character in the description', () => tool({ ...base, description: 'Pays\u200b' })],
    ['title', () => tool({ ...base, title: 'Pay' })],
    ['a new optional argument', () => tool({ ...base, input: z.object({ a: z.string(), b: z.string().optional() }) })],
    ['an argument renamed', () => tool({ ...base, input: z.object({ A: z.string() }) })],
    ['a type', () => tool({ ...base, input: z.object({ a: z.number() }) })],
    ['a limit', () => tool({ ...base, input: z.object({ a: z.string().max(5) }) })],
    [
      'the description of an argument',
      () => tool({ ...base, input: z.object({ a: z.string().describe('the account') }) }),
    ],
    ['a default', () => tool({ ...base, input: z.object({ a: z.string().default('x') }) })],
    ['an output schema', () => tool({ ...base, output: z.object({ ok: z.boolean() }), run: () => ({ ok: true }) })],
    ['fewer scopes', () => tool({ ...base, scopes: [] })],
    ['more scopes', () => tool({ ...base, scopes: ['pay', 'admin'] })],
    ['listed', () => tool({ ...base, listed: true })],
    ['approval', () => tool({ ...base, approval: 'always', stateless: true })],
    ['an approval that depends', () => tool({ ...base, approval: () => true, stateless: true })],
    ['a deadline', () => tool({ ...base, timeoutMs: 1 })],
    ['an annotation', () => tool({ ...base, annotations: { readOnlyHint: true } })],
    ['an icon', () => tool({ ...base, icons: [{ src: 'https://evil.example/x.png' }] })],
    ['meta', () => tool({ ...base, meta: { a: 1 } })],
  ]
  test.each(changes)('changes with %s', (_, changed) => {
    expect(definitionHash(changed())).not.toBe(definitionHash(tool(base)))
  })

  test('is different for every change', () => {
    expect(new Set([tool(base), ...changes.map(([, changed]) => changed())].map(definitionHash)).size).toBe(
      changes.length + 1,
    )
  })
})
