import { expect, test } from 'vitest'
import * as z from 'zod'
import { jsonSchema } from '../json-schema/index.ts'
import { testClient } from '../testing/client.ts'
import { defineServer } from './definition.ts'
import type { Prompt } from './prompts.ts'
import { prompt } from './prompts.ts'

const serving = (...prompts: Prompt[]) => testClient(defineServer({ name: 'x', version: '1', prompts }))
const review = prompt({
  name: 'review',
  description: 'Review code',
  input: z.object({ language: z.string().describe('Which one'), depth: z.string().optional() }),
  complete: {
    language: (value, context) => ['rust', 'ruby', String(context['depth'])].filter((name) => name.startsWith(value)),
  },
  run: ({ language }) => `Review this ${language}`,
})

test('a prompt is listed with its arguments and returns messages', async () => {
  const client = await serving(review)
  expect(await client.request('prompts/list')).toMatchObject({
    prompts: [
      {
        name: 'review',
        arguments: [
          { name: 'language', description: 'Which one', required: true },
          { name: 'depth', required: false },
        ],
      },
    ],
  })
  expect(await client.request('prompts/get', { name: 'review', arguments: { language: 'rust' } })).toMatchObject({
    description: 'Review code',
    messages: [{ role: 'user', content: { type: 'text', text: 'Review this rust' } }],
  })
})

test.each([
  [
    () => [{ role: 'assistant' as const, content: 'hi' }],
    { messages: [{ role: 'assistant', content: { type: 'text', text: 'hi' } }] },
  ],
  [
    () => ({
      description: 'Mine',
      messages: [
        {
          role: 'user' as const,
          content: { type: 'image' as const, data: new Uint8Array([1]), mimeType: 'image/png' },
        },
      ],
    }),
    { description: 'Mine', messages: [{ content: { type: 'image', data: 'AQ==' } }] },
  ],
])('run may return messages, and its own description', async (run, expected) => {
  const client = await serving(prompt({ name: 'p', description: 'P', run }))
  expect(await client.request('prompts/get', { name: 'p' })).toMatchObject(expected)
})

test('a missing argument, a wrong one and an unknown prompt are invalid params', async () => {
  const client = await serving(review)
  for (const params of [{ name: 'review' }, { name: 'review', arguments: { language: 5 } }, { name: 'nope' }, {}])
    expect(await client.send('prompts/get', params)).toMatchObject({ error: { code: -32602 } })
})

test('arguments are completed with the previous choices as context', async () => {
  const client = await serving(review)
  const ask = (argument: object, more: object = {}) =>
    client.send('completion/complete', { ref: { type: 'ref/prompt', name: 'review' }, argument, ...more })
  expect(await ask({ name: 'language', value: 'ru' })).toMatchObject({
    result: { completion: { values: ['rust', 'ruby'] } },
  })
  expect(
    await ask({ name: 'language', value: 'deep' }, { context: { arguments: { depth: 'deep', n: 5 } } }),
  ).toMatchObject({
    result: { completion: { values: ['deep'] } },
  })
  expect(await ask({ name: 'depth', value: '' })).toMatchObject({ result: { completion: { values: [], total: 0 } } })
  expect(await ask({ name: 'toString', value: '' })).toMatchObject({ result: { completion: { values: [] } } })
})

test.each([
  {},
  { ref: { type: 'ref/other', name: 'review' }, argument: { name: 'a', value: 'b' } },
  { ref: { type: 'ref/prompt' }, argument: { name: 'a', value: 'b' } },
  { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'a' } },
  { ref: { type: 'ref/prompt', name: 'nope' }, argument: { name: 'a', value: 'b' } },
  { ref: { type: 'ref/resource', uri: 'nope:x' }, argument: { name: 'a', value: 'b' } },
])('completion of %j is refused', async (params) => {
  const client = await serving(review)
  expect(await client.send('completion/complete', params)).toMatchObject({ error: { code: -32602 } })
})

test('at most a hundred suggestions are sent', async () => {
  const many = prompt({
    name: 'many',
    description: 'Many',
    input: z.object({ a: z.string() }),
    complete: { a: () => Array.from({ length: 250 }, (_, i) => String(i)) },
    run: () => 'x',
  })
  const client = await serving(many)
  const params = { ref: { type: 'ref/prompt', name: 'many' }, argument: { name: 'a', value: '' } }
  const { completion } = (await client.request('completion/complete', params)) as { completion: { values: string[] } }
  expect(completion).toMatchObject({ total: 250, hasMore: true })
  expect(completion.values).toHaveLength(100)
})

test('without anything to complete the method does not exist', async () => {
  const client = await serving(prompt({ name: 'p', description: 'P', run: () => 'x' }))
  expect(await client.send('completion/complete', {})).toMatchObject({ error: { code: -32601 } })
})

test.each<[string, () => unknown, RegExp]>([
  [
    'an argument that is not a string',
    () => prompt({ name: 'p', description: 'P', input: z.object({ n: z.number() }), run: () => '' }),
    /argument "n" must be a string/,
  ],
  [
    'completion of nothing',
    () => prompt({ name: 'p', description: 'P', complete: { x: () => [] }, run: () => '' }),
    /complete\.x is not among its arguments/,
  ],
  ['a bad name', () => prompt({ name: 'p p', description: 'P', run: () => '' }), /prompt "p p"/],
  [
    'a schema that is not an object',
    () => prompt({ name: 'p', description: 'P', input: jsonSchema({ type: 'string' }), run: () => '' }),
    /must describe an object/,
  ],
])('%s fails when it is defined', (_, define, message) => {
  expect(define).toThrow(message)
})

test('arguments that are not an object are a protocol error', async () => {
  const client = await serving(prompt({ name: 'p', description: 'd', run: () => 'x' }))
  for (const args of ['{}', [], null])
    expect(await client.send('prompts/get', { name: 'p', arguments: args })).toMatchObject({
      error: { code: -32602, message: 'Invalid params: arguments must be an object' },
    })
})
