/**
 * What each revision may see of one server: a row per field, a column per revision, on every transport. A field that
 * leaks to an older client, or is lost for a newer one, is a failing cell.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from '../kit/clients/envelope.ts'
import type { Params, ProtocolClient, Revision } from '../kit/clients/protocol.client.ts'
import {
  callTool,
  listAt,
  matrix,
  modern,
  objectAt,
  openProtocolClient,
  resultOf,
} from '../kit/clients/protocol.client.ts'
import { annotations, bytes, icons, meta } from '../kit/servers/everything/content-tools.ts'

/** Everything that one client saw. */
interface Observed {
  readonly greeting: Params
  readonly info: Params
  readonly tools: readonly Params[]
  readonly prompts: readonly Params[]
  readonly resources: readonly Params[]
  readonly templates: readonly Params[]
  /** The blocks of `contents`, in the order of the definition. */
  readonly blocks: readonly Params[]
  /** The same as messages of a prompt. */
  readonly messages: readonly Params[]
  readonly weather: Params
  readonly numbers: Params
  readonly read: Params
  readonly progress: Params
  /** Whole results, one per method. */
  readonly results: readonly Params[]
}

async function observe(wire: ProtocolClient): Promise<Observed> {
  const results: Params[] = []
  const ask = async (method: string, params?: Params): Promise<Params> => {
    const result = resultOf(await wire.send(method, params))
    results.push(result)
    return result
  }
  const all = async (method: string, member: string): Promise<readonly Params[]> => {
    const found: Params[] = []
    let cursor: unknown
    do {
      const page = await ask(method, cursor === undefined ? {} : { cursor })
      found.push(...listAt(page, member))
      cursor = page['nextCursor']
    } while (cursor !== undefined)
    return found
  }
  const counted = wire.send(
    'tools/call',
    { name: 'count', arguments: { key: 'k', to: 1 } },
    { meta: { progressToken: 'p' } },
  )
  const progress = await wire.received.next(({ method }) => method === 'notifications/progress')
  await callTool(wire, 'proceed', { key: 'k' })
  await counted
  const { handshake } = wire
  return {
    greeting: handshake,
    info:
      wire.revision === modern
        ? objectAt(objectAt(handshake, '_meta'), keys.server)
        : objectAt(handshake, 'serverInfo'),
    tools: await all('tools/list', 'tools'),
    prompts: await all('prompts/list', 'prompts'),
    resources: await all('resources/list', 'resources'),
    templates: await all('resources/templates/list', 'resourceTemplates'),
    blocks: listAt(await ask('tools/call', { name: 'contents' }), 'content'),
    messages: listAt(await ask('prompts/get', { name: 'media' }), 'messages'),
    weather: await ask('tools/call', { name: 'weather', arguments: { city: 'Oslo' } }),
    numbers: await ask('tools/call', { name: 'numbers', arguments: {} }),
    read: await ask('resources/read', { uri: 'note://text' }),
    progress: objectAt(progress, 'params'),
    results,
  }
}

const named = (entries: readonly Params[], name: string): Params => {
  const found = entries.find((entry) => entry['name'] === name)
  if (!found) throw new Error(`${name} is not listed`)
  return found
}
const tool = (seen: Observed, name: string): Params => named(seen.tools, name)
const schemaOf = (seen: Observed, name: string, which: 'inputSchema' | 'outputSchema'): Params | undefined => {
  const schema = tool(seen, name)[which]
  return schema === undefined ? undefined : objectAt(tool(seen, name), which)
}
const promptArgument = (seen: Observed): Params => listAt(named(seen.prompts, 'greet'), 'arguments')[0] ?? {}
const block = (seen: Observed, at: number): Params => seen.blocks[at] ?? {}
const contentAt = (seen: Observed, at: number): Params => objectAt(seen.messages[at] ?? {}, 'content')
const lastModified = (owner: Params): unknown => objectAt(owner, 'annotations')['lastModified']

interface Row {
  readonly field: string
  /** The first revision that has it; `undefined` if all have it. */
  readonly since?: Revision
  readonly find: (seen: Observed) => unknown
  readonly is: unknown
  /** The value in earlier revisions; by default absent. */
  readonly before?: unknown
}

const base64 = Buffer.from(bytes).toString('base64')
const dialect = 'https://json-schema.org/draft/2020-12/schema'
const noAudio = { type: 'text', text: expect.stringContaining('audio/wav') }
const linkAsText = { type: 'text', text: 'A linked note: note://linked' }

const definitions: readonly Row[] = [
  {
    field: 'hints on tools',
    since: '2025-03-26',
    find: (seen) => tool(seen, 'weather')['annotations'],
    is: { title: 'Weather', readOnlyHint: true, openWorldHint: false },
  },
  {
    field: 'title of a tool',
    since: '2025-06-18',
    find: (seen) => tool(seen, 'weather')['title'],
    is: 'Weather report',
  },
  { field: 'title of a prompt', since: '2025-06-18', find: (seen) => seen.prompts[0]?.['title'], is: 'Greeting' },
  { field: 'title of an argument', since: '2025-06-18', find: (seen) => promptArgument(seen)['title'], is: 'Name' },
  { field: 'title of a resource', since: '2025-06-18', find: (seen) => seen.resources[0]?.['title'], is: 'A text' },
  {
    field: 'title of a template',
    since: '2025-06-18',
    find: (seen) => seen.templates[0]?.['title'],
    is: 'Notes by year',
  },
  { field: 'title of the server', since: '2025-06-18', find: (seen) => seen.info['title'], is: 'Everything' },
  { field: 'icons of a tool', since: '2025-11-25', find: (seen) => tool(seen, 'weather')['icons'], is: icons },
  { field: 'icons of a prompt', since: '2025-11-25', find: (seen) => seen.prompts[0]?.['icons'], is: icons },
  { field: 'icons of a resource', since: '2025-11-25', find: (seen) => seen.resources[0]?.['icons'], is: icons },
  { field: 'icons of a template', since: '2025-11-25', find: (seen) => seen.templates[0]?.['icons'], is: icons },
  {
    field: 'icons of what a template lists',
    since: '2025-11-25',
    find: (seen) => named(seen.resources, 'world')['icons'],
    is: icons,
  },
  { field: 'icons of the server', since: '2025-11-25', find: (seen) => seen.info['icons'], is: icons },
  {
    field: 'description of the server',
    since: '2025-11-25',
    find: (seen) => seen.info['description'],
    is: 'A server with everything in it',
  },
  {
    field: 'website of the server',
    since: '2025-11-25',
    find: (seen) => seen.info['websiteUrl'],
    is: 'https://example.com/everything',
  },
  { field: '_meta of a tool', since: '2025-06-18', find: (seen) => tool(seen, 'weather')['_meta'], is: meta },
  { field: '_meta of a prompt', since: '2025-06-18', find: (seen) => seen.prompts[0]?.['_meta'], is: meta },
  { field: '_meta of a resource', since: '2025-06-18', find: (seen) => seen.resources[0]?.['_meta'], is: meta },
  { field: '_meta of a template', since: '2025-06-18', find: (seen) => seen.templates[0]?.['_meta'], is: meta },
  { field: 'size of a resource', find: (seen) => seen.resources[0]?.['size'], is: 5 },
  {
    field: 'audience and priority of a resource',
    find: (seen) => seen.resources[0]?.['annotations'],
    is: expect.objectContaining({ audience: annotations.audience, priority: annotations.priority }),
  },
  {
    field: 'lastModified of a resource',
    since: '2025-06-18',
    find: (seen) => lastModified(seen.resources[0] ?? {}),
    is: annotations.lastModified,
  },
  {
    field: 'lastModified of a template',
    since: '2025-06-18',
    find: (seen) => lastModified(seen.templates[0] ?? {}),
    is: annotations.lastModified,
  },
  { field: 'description of an argument', find: (seen) => promptArgument(seen)['description'], is: 'Who' },
]

const schemas: readonly Row[] = [
  {
    field: 'the input schema itself',
    find: (seen) => schemaOf(seen, 'address', 'inputSchema'),
    is: expect.objectContaining({
      type: 'object',
      properties: { to: { $ref: '#/$defs/place' } },
      required: ['to'],
      additionalProperties: false,
      $defs: { place: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] } },
    }),
  },
  {
    field: '$schema of an input schema',
    since: '2025-11-25',
    find: (seen) => schemaOf(seen, 'address', 'inputSchema')?.['$schema'],
    is: dialect,
  },
  {
    field: 'output schema that is an object',
    since: '2025-06-18',
    find: (seen) => schemaOf(seen, 'weather', 'outputSchema'),
    is: expect.objectContaining({ type: 'object', required: ['city', 'celsius', 'dry'] }),
  },
  {
    field: '$schema of an output schema',
    since: '2025-11-25',
    find: (seen) => schemaOf(seen, 'weather', 'outputSchema')?.['$schema'],
    is: dialect,
  },
  {
    field: 'output schema that is none',
    since: modern,
    find: (seen) => schemaOf(seen, 'numbers', 'outputSchema'),
    is: { type: 'array', items: { type: 'integer' } },
  },
]

const results: readonly Row[] = [
  {
    field: 'structured content that is an object',
    since: '2025-06-18',
    find: (seen) => seen.weather['structuredContent'],
    is: { city: 'Oslo', celsius: 21.5, dry: true },
  },
  {
    field: 'the same as text',
    find: (seen) => seen.weather['content'],
    is: [{ type: 'text', text: '{"city":"Oslo","celsius":21.5,"dry":true}' }],
  },
  {
    field: 'structured content that is not an object',
    since: modern,
    find: (seen) => seen.numbers['structuredContent'],
    is: [1, 2, 3],
  },
  { field: 'the same as text, too', find: (seen) => seen.numbers['content'], is: [{ type: 'text', text: '[1,2,3]' }] },
  { field: 'image', find: (seen) => block(seen, 1), is: { type: 'image', data: base64, mimeType: 'image/png' } },
  {
    field: 'audio',
    since: '2025-03-26',
    find: (seen) => block(seen, 2),
    is: expect.objectContaining({ type: 'audio', data: base64, mimeType: 'audio/wav' }),
    before: noAudio,
  },
  {
    field: 'audio in a prompt',
    since: '2025-03-26',
    find: (seen) => contentAt(seen, 2),
    is: expect.objectContaining({ type: 'audio', data: base64 }),
    before: noAudio,
  },
  {
    field: 'embedded bytes',
    find: (seen) => block(seen, 4),
    is: { type: 'resource', resource: { uri: 'note://embedded-bytes', mimeType: 'image/png', blob: base64 } },
  },
  {
    field: 'link to a resource',
    since: '2025-06-18',
    find: (seen) => block(seen, 5),
    is: expect.objectContaining({
      type: 'resource_link',
      uri: 'note://linked',
      name: 'linked',
      title: 'A linked note',
    }),
    before: linkAsText,
  },
  {
    field: 'link in a prompt',
    since: '2025-06-18',
    find: (seen) => contentAt(seen, 5),
    is: expect.objectContaining({ type: 'resource_link', uri: 'note://linked' }),
    before: linkAsText,
  },
  { field: 'icons of a link', since: '2025-11-25', find: (seen) => block(seen, 5)['icons'], is: icons },
  { field: '_meta of a block', since: '2025-06-18', find: (seen) => block(seen, 0)['_meta'], is: meta },
  { field: '_meta of a prompt block', since: '2025-06-18', find: (seen) => contentAt(seen, 0)['_meta'], is: meta },
  {
    field: '_meta of an embedded resource',
    since: '2025-06-18',
    find: (seen) => objectAt(block(seen, 3), 'resource')['_meta'],
    is: meta,
  },
  {
    field: '_meta of what was read',
    since: '2025-06-18',
    find: (seen) => listAt(seen.read, 'contents')[0]?.['_meta'],
    is: meta,
  },
  {
    field: 'audience and priority of a block',
    find: (seen) => block(seen, 0)['annotations'],
    is: expect.objectContaining({ audience: annotations.audience, priority: annotations.priority }),
  },
  {
    field: 'lastModified of a block',
    since: '2025-06-18',
    find: (seen) => lastModified(block(seen, 0)),
    is: annotations.lastModified,
  },
  {
    field: 'completions capability',
    since: '2025-03-26',
    find: (seen) => objectAt(seen.greeting, 'capabilities')['completions'],
    is: {},
  },
  { field: 'message of progress', since: '2025-03-26', find: (seen) => seen.progress['message'], is: 'step 1' },
  {
    field: 'progress itself',
    find: (seen) => seen.progress,
    is: expect.objectContaining({ progressToken: 'p', progress: 1, total: 1 }),
  },
  { field: 'how long a read may be kept', since: modern, find: (seen) => seen.read['ttlMs'], is: 5_000 },
  { field: 'who may share a read', since: modern, find: (seen) => seen.read['cacheScope'], is: 'public' },
]

describe.each(matrix)('$revision over $transport', ({ transport, revision }) => {
  let wire: ProtocolClient
  let seen: Observed
  beforeAll(async () => {
    wire = await openProtocolClient(transport, revision)
    seen = await observe(wire)
  })
  afterAll(() => wire.close())

  test.each([...definitions, ...schemas, ...results])('$field', ({ since = '2024-11-05', find, is, before }) => {
    expect(find(seen)).toEqual(revision >= since ? is : before)
  })
  test('every result has its type and its server, from 2026-07-28 on', () => {
    for (const result of seen.results)
      if (revision === modern) {
        expect(result).toMatchObject({
          resultType: 'complete',
          _meta: { [keys.server]: { name: 'everything', version: '1.2.3' } },
        })
      } else {
        expect(result).not.toHaveProperty('resultType')
        expect(result).not.toHaveProperty('_meta')
      }
  })
  test('every list says how long it may be cached, from 2026-07-28 on', () => {
    const lists = seen.results.filter((result) =>
      ['tools', 'prompts', 'resources', 'resourceTemplates'].some((list) => list in result),
    )
    expect(lists.length).toBeGreaterThan(8)
    for (const list of lists)
      if (revision === modern)
        expect(list).toMatchObject({
          ttlMs: expect.any(Number),
          cacheScope: expect.stringMatching(/^public$|^private$/),
        })
      else for (const member of ['ttlMs', 'cacheScope']) expect(list).not.toHaveProperty(member)
  })
  test("the server's capabilities are named", () => {
    expect(seen.greeting['capabilities']).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      logging: {},
    })
    expect(seen.greeting['instructions']).toBe('Try one after the other')
  })
})
