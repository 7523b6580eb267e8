import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { definitionHash } from '../core/definition-hash.ts'
import { fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { jsonSchema } from '../json-schema/index.ts'
import { testClient } from '../testing/client.ts'
import { defineServer } from './definition.ts'
import { form } from './questions.ts'
import type { Schema } from './schema.ts'
import type { Tool } from './tools.ts'
import { tool } from './tools.ts'

const serving = (...tools: Tool[]) => testClient(defineServer({ name: 'x', version: '1', tools }))
const run = (): string => 'ran'

describe('any schema library can describe the input and the output', () => {
  const schemas: readonly (readonly [string, Schema<{ text: string }>])[] = [
    ['Zod', z.object({ text: z.string().min(2) })],
    ['Valibot', toStandardJsonSchema(v.object({ text: v.pipe(v.string(), v.minLength(2)) }))],
    ['ArkType', type({ text: 'string >= 2' })],
    [
      'JSON Schema',
      jsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string', minLength: 2 } },
        required: ['text'],
      }),
    ],
  ]
  test.each(schemas)('%s: it is listed, checked and typed', async (_, input) => {
    const client = await serving(tool({ name: 'echo', description: 'Echo', input, run: ({ text }) => text }))
    expect(await client.request('tools/list')).toMatchObject({
      tools: [
        { inputSchema: { type: 'object', properties: { text: { type: 'string', minLength: 2 } }, required: ['text'] } },
      ],
    })
    expect(await client.call('echo', { text: 'hello' })).toMatchObject({ content: [{ text: 'hello' }], isError: false })
    const detail = async (args: Params): Promise<unknown> => {
      const { _meta: meta } = await client.call('echo', args)
      return (meta as { 'dev.sluice/error': { issues: unknown[] } })['dev.sluice/error'].issues[0]
    }
    expect(await detail({ text: 'x' })).toMatchObject({ code: 'PARAMETER_TOO_SHORT', param: 'text', minLength: 2 })
    expect(await detail({})).toMatchObject({ code: 'MISSING_REQUIRED_PARAMETER', param: 'text' })
    expect(await detail({ text: 5 })).toMatchObject({ code: 'INVALID_PARAMETER_TYPE', param: 'text' })
  })

  test.each(schemas)('%s: the output of run is listed and checked', async (_, output) => {
    const input = z.object({ text: z.unknown() })
    const echo = tool({ name: 'echo', description: 'Echo', input, output, run: ({ text }) => ({ text }) as never })
    const client = await serving(echo)
    expect(await client.request('tools/list')).toMatchObject({
      tools: [{ outputSchema: { type: 'object', properties: { text: { type: 'string', minLength: 2 } } } }],
    })
    expect(await client.call('echo', { text: 'hello' })).toMatchObject({ structuredContent: { text: 'hello' } })
    const broken = await client.call('echo', { text: 5 })
    expect(broken).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Tool execution failed/) }],
    })
    expect(broken).not.toHaveProperty('structuredContent')
  })

  test('an asynchronous check is waited for', async () => {
    const input = z.object({ n: z.number().refine(async (n) => n > 1, 'must be more than one') })
    const client = await serving(tool({ name: 'late', description: 'Late', input, run: ({ n }) => String(n) }))
    expect(await client.call('late', { n: 2 })).toMatchObject({ isError: false })
    expect(await client.call('late', { n: 1 })).toMatchObject({ isError: true })
  })
})

test('the codes name the problem of an argument', async () => {
  const input = z.object({
    long: z.string().max(3).optional(),
    small: z.number().min(5).optional(),
    positive: z.number().gt(0).optional(),
    large: z.number().max(5).optional(),
    choice: z.enum(['a', 'b']).optional(),
    list: z.array(z.object({ n: z.int() })).optional(),
    even: z.number().multipleOf(2).optional(),
  })
  const client = await serving(tool({ name: 't', description: 'T', input, run }))
  const code = async (args: Params): Promise<unknown> => {
    const { _meta: meta } = await client.call('t', args)
    const [issue] = (meta as { 'dev.sluice/error': { issues: { code: string; param?: string }[] } })['dev.sluice/error']
      .issues
    return [issue?.code, issue?.param]
  }
  expect(await code({ long: 'abcd' })).toEqual(['PARAMETER_TOO_LONG', 'long'])
  expect(await code({ small: 4 })).toEqual(['PARAMETER_TOO_SMALL', 'small'])
  expect(await code({ positive: 0 })).toEqual(['PARAMETER_TOO_SMALL', 'positive'])
  expect(await code({ large: 6 })).toEqual(['PARAMETER_TOO_LARGE', 'large'])
  expect(await code({ choice: 'c' })).toEqual(['INVALID_PARAMETER_VALUE', 'choice'])
  expect(await code({ list: [{ n: 1 }, { n: 'x' }] })).toEqual(['INVALID_PARAMETER_TYPE', 'list.1.n'])
  expect(await code({ list: 5 })).toEqual(['INVALID_PARAMETER_TYPE', 'list'])
  expect(await code({ even: 3 })).toEqual(['INVALID_PARAMETER', 'even'])
})

describe('the return value of run becomes a result', () => {
  const bytes = new Uint8Array([1, 2, 3])
  test.each<[string, Tool, object]>([
    ['text', tool({ name: 't', description: 'T', run: () => 'hi' }), { content: [{ type: 'text', text: 'hi' }] }],
    [
      'an object',
      tool({ name: 't', description: 'T', run: () => ({ n: 1 }) }),
      { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } },
    ],
    [
      'blocks, with bytes as base64',
      tool({ name: 't', description: 'T', run: () => [{ type: 'image', data: bytes, mimeType: 'image/png' }] }),
      { content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }] },
    ],
    [
      'a whole result',
      tool({
        name: 't',
        description: 'T',
        run: () => ({ content: [{ type: 'resource', resource: { uri: 'a:b', blob: bytes } }], _meta: { 'x/y': 1 } }),
      }),
      { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'AQID' } }], _meta: { 'x/y': 1 } },
    ],
  ])('%s', async (_, made, expected) => {
    const client = await serving(made)
    expect(await client.call('t')).toMatchObject({ isError: false, ...expected })
  })

  test.each([null, 5, undefined, true])('%s is a bug of the tool', async (returned) => {
    const broken = tool({ name: 't', description: 'T', run: () => returned as unknown as string })
    const client = await serving(broken)
    expect(await client.call('t')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Tool execution failed: t\. Reference: /) }],
    })
  })

  test('a failure is text for the model, and a crash is a reference', async () => {
    const client = await serving(
      tool({ name: 'fails', description: 'F', run: () => Promise.reject(fail('Only 3 seats are left')) }),
      tool({
        name: 'crashes',
        description: 'C',
        run: () => {
          throw new Error('password is hunter2')
        },
      }),
      tool({ name: 'refuses', description: 'R', run: () => Promise.reject(new RpcError('forbidden', 'Not for you')) }),
    )
    expect(await client.call('fails')).toMatchObject({ isError: true, content: [{ text: 'Only 3 seats are left' }] })
    expect(JSON.stringify(await client.call('crashes'))).not.toContain('hunter2')
    await expect(client.call('refuses')).rejects.toMatchObject({ error: { code: 40300 } })
  })
})

describe('an output schema is a promise', () => {
  const weather = tool({
    name: 'weather',
    description: 'Weather',
    input: z.object({ city: z.string() }),
    output: z.object({ degrees: z.number(), sky: z.enum(['clear', 'grey']).default('grey') }),
    run: ({ city }) => (city === 'nowhere' ? ({ degrees: 'cold' } as never) : { degrees: 21 }),
  })
  test('it is listed, and the output of run is checked and completed', async () => {
    const client = await serving(weather)
    expect(await client.request('tools/list')).toMatchObject({ tools: [{ outputSchema: { type: 'object' } }] })
    expect(await client.call('weather', { city: 'Prague' })).toMatchObject({
      structuredContent: { degrees: 21, sky: 'grey' },
      content: [{ text: '{"degrees":21,"sky":"grey"}' }],
    })
  })
  test('a result that breaks it is not sent', async () => {
    const client = await serving(weather)
    const result = await client.call('weather', { city: 'nowhere' })
    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).not.toContain('cold')
  })
  test('a whole result is checked too, unless it is an error', async () => {
    const output = z.object({ n: z.number() })
    const content = [{ type: 'text' as const, text: 'n' }]
    const client = await serving(
      tool({ name: 'whole', description: 'W', output, run: () => ({ content, structuredContent: { n: 1 } }) }),
      tool({ name: 'error', description: 'E', output, run: () => ({ content, isError: true }) }),
    )
    expect(await client.call('whole')).toMatchObject({ content, structuredContent: { n: 1 }, isError: false })
    expect(await client.call('error')).toMatchObject({ content, isError: true })
  })
  test('the output may be any JSON value', async () => {
    const client = await serving(
      tool({ name: 'list', description: 'L', output: z.array(z.string()), run: () => ['a', 'b'] }),
    )
    expect(await client.call('list')).toMatchObject({ structuredContent: ['a', 'b'] })
  })
})

test('a tool without input takes no arguments', async () => {
  const client = await serving(tool({ name: 't', description: 'T', run }))
  expect(await client.call('t')).toMatchObject({ isError: false })
  expect(await client.call('t', { x: 1 })).toMatchObject({ isError: true })
})

test('types flow from the schemas to run', () => {
  tool({
    name: 't',
    description: 'T',
    input: z.object({ when: z.string().transform((text) => new Date(text)) }),
    output: z.object({ n: z.number() }),
    ask: () => ({ who: form('Who?', z.object({ name: z.string() })), maybe: undefined }),
    run({ when }, { answers }) {
      expectTypeOf(when).toEqualTypeOf<Date>()
      expectTypeOf(answers.who).toEqualTypeOf<{ name: string }>()
      return { n: 1 }
    },
  })
  // @ts-expect-error: the return value of run must fit the output schema
  tool({ name: 't', description: 'T', output: z.object({ n: z.number() }), run: () => ({ n: 'one' }) })
})

describe('a bad definition fails when it is defined, and the message names the tool and the fix', () => {
  const described = { description: 'D', run }
  const withProperty = (property: Params, more: Params = {}) =>
    tool({ name: 'deploy', ...described, input: jsonSchema({ type: 'object', properties: { p: property }, ...more }) })
  test.each<[string, () => unknown, RegExp]>([
    ['an illegal name', () => tool({ name: 'de ploy', ...described }), /tool "de ploy": a name has/],
    ['an empty name', () => tool({ name: '', ...described }), /a name has 1 to 128/],
    ['a long name', () => tool({ name: 'x'.repeat(129), ...described }), /a name has 1 to 128/],
    ['no description', () => tool({ name: 'deploy', description: ' ', run }), /tool "deploy": add a description/],
    [
      'an input that is not an object',
      () => tool({ name: 'deploy', ...described, input: z.string() }),
      /tool "deploy", input: the schema must describe an object/,
    ],
    [
      'a plain object as schema',
      () => tool({ name: 'deploy', ...described, input: { type: 'object' } as never }),
      /wrap plain JSON Schema in jsonSchema/,
    ],
    [
      'null as schema',
      () => tool({ name: 'deploy', ...described, input: 5 as never }),
      /wrap plain JSON Schema in jsonSchema/,
    ],
    [
      'a bare Valibot schema',
      () => tool({ name: 'deploy', ...described, input: v.object({}) }),
      /toStandardJsonSchema/,
    ],
    [
      'another library without JSON Schema',
      () =>
        tool({
          name: 'deploy',
          ...described,
          input: { '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) } },
        }),
      /Standard JSON Schema/,
    ],
    [
      'what JSON cannot hold',
      () => tool({ name: 'deploy', ...described, input: z.object({ d: z.date() }) }),
      /use types that JSON can hold/,
    ],
    [
      'a header name that is none',
      () => withProperty({ type: 'string', 'x-mcp-header': 'no spaces' }),
      /tool "deploy", input: x-mcp-header at "p" must be a header name/,
    ],
    [
      'a header on a number',
      () => withProperty({ type: 'number', 'x-mcp-header': 'N' }),
      /must be on a string, an integer or a boolean/,
    ],
    [
      'a header inside items',
      () => withProperty({ type: 'array', items: { type: 'string', 'x-mcp-header': 'N' } }),
      /reached through properties only/,
    ],
    [
      'a header used twice',
      () =>
        withProperty(
          { type: 'string', 'x-mcp-header': 'N' },
          { properties: { p: { type: 'string', 'x-mcp-header': 'N' }, q: { type: 'string', 'x-mcp-header': 'n' } } },
        ),
      /used twice/,
    ],
    [
      'a network reference',
      () =>
        tool({
          name: 'deploy',
          ...described,
          input: {
            '~standard': {
              version: 1,
              vendor: 'other',
              validate: (value: unknown) => ({ value }),
              jsonSchema: { input: () => ({ type: 'object', $ref: 'https://example.com/s' }), output: () => ({}) },
            },
          } as never,
        }),
      /points outside the schema/,
    ],
    [
      'two tools of one name',
      () =>
        defineServer({
          name: 'x',
          version: '1',
          tools: [tool({ name: 'deploy', ...described }), tool({ name: 'deploy', ...described })],
        }),
      /tool "deploy" is defined twice/,
    ],
    ['a server without a name', () => defineServer({ name: '', version: '1' }), /needs a "name" and a "version"/],
  ])('%s', (_, define, message) => {
    expect(define).toThrow(message)
  })
})

test('the definition hash changes with everything an approval depends on', () => {
  const base = { name: 't', description: 'T', run } as const
  const hashes = [
    tool(base),
    tool({ ...base, description: 'U' }),
    tool({ ...base, input: z.object({ a: z.string() }) }),
    tool({ ...base, scopes: ['a'] }),
    tool({ ...base, approval: 'always', stateless: true }),
    tool({ ...base, annotations: { destructiveHint: true } }),
  ].map(definitionHash)
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(definitionHash(tool(base))).toBe(hashes[0])
})

test('progress that is not a JSON number is dropped, and later progress is still sent', async () => {
  const measured = tool({
    name: 'measured',
    description: 'Counts',
    run(_, { progress }) {
      progress(Number.POSITIVE_INFINITY)
      progress(Number.NaN)
      progress(1, 0 / 0)
      progress(2, 4)
      return 'done'
    },
  })
  const client = await serving(measured)
  await client.request('tools/call', { name: 'measured', arguments: {}, _meta: { progressToken: 't' } })
  expect(client.received.map(({ params }) => params)).toEqual([
    { progressToken: 't', progress: 1 },
    { progressToken: 't', progress: 2, total: 4 },
  ])
})

test.each([
  ['a text', '{}'],
  ['a list', []],
  ['null', null],
  ['a number', 5],
])('arguments that are %s are a protocol error, not a result of the tool', async (_, args) => {
  const client = await serving(tool({ name: 'echo', description: 'Echo', run: () => 'ran' }))
  for (const name of ['echo', 'unknown'])
    expect(await client.send('tools/call', { name, arguments: args })).toMatchObject({
      error: { code: -32602, message: 'Invalid params: arguments must be an object' },
    })
})
