/** The output of a tool, a resource, a prompt or a completer: nothing invalid, nothing unbounded. */

import type { Logger, ServerDefinition } from 'sluice'
import { defineServer, prompt, resource, tool } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { isObject } from '../../packages/sluice/src/core/json.ts'

const info = { name: 'x', version: '1' }

/** Makes one request, and returns the answer and the log for the author. */
async function outcome(
  definition: Omit<ServerDefinition, 'name' | 'version'>,
  method: string,
  params: object,
  maxResultLength?: number,
) {
  const lines: unknown[] = []
  const logger: Logger = { info: () => {}, warn: (line) => lines.push(line), error: (line) => lines.push(line) }
  const server = createServer(defineServer({ ...info, ...definition }), {
    ...(maxResultLength !== undefined && { maxResultLength }),
    use: [log(logger)],
  })
  const text = (await toTransportServer(server).handleText({ jsonrpc: '2.0', id: 1, method, params })) ?? ''
  const answer: unknown = JSON.parse(text)
  const result = isObject(answer) ? answer['result'] : undefined
  const error = isObject(answer) ? answer['error'] : undefined
  return { result, error, logged: JSON.stringify(lines), text }
}

const ofTool = (returned: unknown, max?: number, output?: z.ZodType) =>
  outcome(
    {
      tools: [
        tool({ name: 't', description: 'd', run: () => returned as string, ...(output && { output }) } as Parameters<
          typeof tool
        >[0]),
      ],
    },
    'tools/call',
    { name: 't', arguments: {} },
    max,
  )
const ofResource = (returned: unknown, max?: number) =>
  outcome(
    { resources: [resource({ uri: 'a:1', name: 'r', read: () => returned as string })] },
    'resources/read',
    { uri: 'a:1' },
    max,
  )
const ofPrompt = (returned: unknown, max?: number) =>
  outcome(
    { prompts: [prompt({ name: 'p', description: 'd', run: () => returned as string })] },
    'prompts/get',
    { name: 'p' },
    max,
  )
const ofList = (returned: unknown, max?: number) =>
  outcome(
    { resources: [resource({ uri: 'a:{x}', name: 'r', read: () => '', list: () => ({ resources: returned as [] }) })] },
    'resources/list',
    {},
    max,
  )
const ofCompleter = (returned: unknown, max?: number) =>
  outcome(
    { resources: [resource({ uri: 'a:{x}', name: 'r', read: () => '', complete: { x: () => returned as [] } })] },
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'a:{x}' }, argument: { name: 'x', value: '' } },
    max,
  )

const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
const user = (content: unknown) => [{ role: 'user', content }]

describe('a tool that returns', () => {
  test.each<readonly [name: string, returned: unknown, said: string]>([
    ['isError as text', { content: [], isError: 'yes' }, 'isError must be true or false'],
    ['a block of an unknown type', [{ type: 'nonsense' }], 'not a content block'],
    ['a text block without text', [{ type: 'text' }], 'not a content block'],
    ['a text block with a number', [{ type: 'text', text: 5 }], 'not a content block'],
    ['an image without a type', [{ type: 'image', data: 'AAAA' }], 'not a content block'],
    ['an image whose data is not base64', [{ ...image, data: 'a picture' }], 'not a content block'],
    ['a link without a name', [{ type: 'resource_link', uri: 'a:1' }], 'not a content block'],
    ['an embedded resource without text', [{ type: 'resource', resource: { uri: 'a:1' } }], 'not resource contents'],
    ['a block with a broken _meta', [{ type: 'text', text: '', _meta: 'x' }], 'not a content block'],
    ['a list of numbers', [1, 2, 3], 'not a content block'],
    ['a list of objects', [{ city: 'Rome' }], 'not a content block'],
    ['a Map', new Map([['a', 1]]), 'Map'],
    ['a Map inside', { rows: new Map([['a', 1]]) }, 'Map'],
    ['a Set inside a whole result', { content: [], structuredContent: { seen: new Set([1]) } }, 'Set'],
    ['a stream', new ReadableStream(), 'ReadableStream'],
    ['an Error', { failed: new Error('x') }, 'Error'],
    ['bytes inside of data', { bytes: new Uint8Array(3) }, 'Uint8Array'],
    ['a promise inside of data', { later: Promise.resolve(1) }, 'Promise'],
    ['a broken _meta', { content: [], _meta: 'x' }, '_meta'],
  ])('%s fails, and the log says why', async (_, returned, said) => {
    const { result, logged } = await ofTool(returned)
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Tool execution failed: t/) }],
    })
    expect(logged).toContain(said)
  })

  test.each<readonly [name: string, returned: unknown, result: object]>([
    [
      'blocks of every kind',
      [{ type: 'text', text: 'a' }, image, { ...image, data: new Uint8Array(3) }],
      { content: { length: 3 } },
    ],
    ['a whole result', { content: [], isError: true, _meta: { a: 1 } }, { isError: true, _meta: { a: 1 } }],
    ['dates', { at: new Date(0) }, { structuredContent: { at: '1970-01-01T00:00:00.000Z' } }],
    [
      'an instance of a class',
      new (class Row {
        id = 1
      })(),
      { structuredContent: { id: 1 } },
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { id: 1 }), { structuredContent: { id: 1 } }],
    ['missing members', { a: undefined, b: null }, { structuredContent: { b: null } }],
  ])('%s is understood', async (_, returned, result) => {
    expect((await ofTool(returned)).result).toMatchObject(result)
  })

  test('a custom resultType is not shown to the client', async () => {
    expect((await ofTool({ content: [], resultType: 'nonsense' })).text).not.toContain('nonsense')
  })

  test('isError as text also fails with an output schema', async () => {
    expect((await ofTool({ content: [], isError: 'yes' }, undefined, z.object({}))).logged).toContain('isError')
  })
})

test.each<readonly [name: string, ask: Promise<{ error: unknown; logged: string }>, said: string]>([
  ['a resource whose text is a number', ofResource({ text: 5 }), 'not resource contents'],
  ['a resource whose blob is not base64', ofResource({ blob: 'a picture' }), 'not resource contents'],
  ['a resource of contents without a URI', ofResource([{ text: 'x' }]), 'not resource contents'],
  ['a resource that is a Map', ofResource(new Map()), 'Map'],
  ['a prompt of a system', ofPrompt([{ role: 'system', content: 'x' }]), 'role'],
  ['a prompt with a broken block', ofPrompt(user({ type: 'nonsense' })), 'not a content block'],
  ['a prompt with a number', ofPrompt(user(5)), 'not a content block'],
  ['a prompt whose description is a number', ofPrompt({ description: 5, messages: user('x') }), 'description'],
  ['a list of entries without a URI', ofList([{ name: 'x' }]), 'uri'],
  ['a list of entries without a name', ofList([{ uri: 'a:1' }]), 'name'],
  ['completions that are numbers', ofCompleter([1]), 'strings'],
  ['completions that are a text', ofCompleter('abc'), 'strings'],
])('%s is an internal error, and the log says why', async (_, ask, said) => {
  const { error, logged } = await ask
  expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
  expect(logged).toContain(said)
})

const long = 'x'.repeat(1_001)
const bytes = new Uint8Array(800)

describe('more than the server allows', () => {
  test.each<readonly [name: string, returned: unknown]>([
    ['text', long],
    ['a text block', [{ type: 'text', text: long }]],
    ['many small blocks', Array.from({ length: 100 }, () => ({ type: 'text', text: 'x' }))],
    ['an image as bytes', [{ ...image, data: bytes }]],
    ['data', { long }],
    ['many names', Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`name ${at}`, 0]))],
    ['structured content of its own', { content: [], structuredContent: { long } }],
    ['_meta', { content: [], _meta: { long } }],
  ])('of a tool, as %s, is an error that the model reads', async (_, returned) => {
    const { result, text } = await ofTool(returned, 1_000)
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The result is larger than 1000 characters: request less' }],
      _meta: { 'dev.sluice/error': { reason: 'resultTooLarge' } },
    })
    expect(text.length).toBeLessThan(1_000)
    expect((await ofTool(returned)).result).toMatchObject({ isError: false })
  })

  test('of a tool with an output schema is the same', async () => {
    const { result } = await ofTool({ long }, 1_000, z.object({ long: z.string() }))
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.sluice/error': { reason: 'resultTooLarge' } } })
  })

  test.each<readonly [name: string, ask: (max?: number) => Promise<{ error: unknown }>]>([
    ['a resource as text', (max) => ofResource(long, max)],
    ['a resource as bytes', (max) => ofResource(bytes, max)],
    ['a resource as contents', (max) => ofResource([{ uri: 'a:1', text: long }], max)],
    ['a prompt as text', (max) => ofPrompt(long, max)],
    ['a prompt as messages', (max) => ofPrompt(user(long), max)],
    ['a list of resources', (max) => ofList([{ uri: 'a:1', name: long }], max)],
    ['completions', (max) => ofCompleter([long], max)],
  ])('of %s is an error', async (_, ask) => {
    expect((await ask(1_000)).error).toMatchObject({ code: -32603, data: { reason: 'resultTooLarge' } })
    expect((await ask()).error).toBeUndefined()
  })

  test('is four million characters by default', async () => {
    expect((await ofTool('x'.repeat(4 * 1024 * 1024))).result).toMatchObject({ isError: false })
    expect((await ofTool('x'.repeat(4 * 1024 * 1024 + 1))).result).toMatchObject({ isError: true })
  })
})
