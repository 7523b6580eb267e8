import { expect, test } from 'vitest'
import * as z from 'zod'
import { createServer } from '../node.ts'
import { testClient } from '../testing/client.ts'
import { defineServer } from './definition.ts'
import { form } from './questions.ts'
import type { Resource } from './resources.ts'
import { resource } from './resources.ts'

const serving = (...resources: Resource[]) =>
  testClient(defineServer({ name: 'x', version: '1', resources }), { capabilities: { elicitation: {} } })

const note = resource({
  uri: 'note://{year}/{slug}',
  name: 'note',
  mimeType: 'text/markdown',
  complete: { year: (value) => ['2024', '2025'].filter((year) => year.startsWith(value)) },
  list: ({ cursor }) =>
    cursor === undefined
      ? { resources: [{ uri: 'note://2024/a', name: 'a' }], next: 'second' }
      : { resources: [{ uri: `note://2025/${cursor}`, name: cursor }] },
  read: ({ year, slug }) => (year === '1999' ? undefined : `${String(year)}: ${String(slug)}`),
})

test.each([
  ['text', () => 'hello', [{ uri: 'a:1', mimeType: 'text/plain', text: 'hello' }]],
  ['bytes', () => new Uint8Array([255]), [{ uri: 'a:1', mimeType: 'text/plain', blob: '/w==' }]],
  [
    'contents',
    () => ({ text: '{}', mimeType: 'application/json' }),
    [{ uri: 'a:1', mimeType: 'application/json', text: '{}' }],
  ],
  [
    'several',
    () => [
      { uri: 'a:1', text: 'x' },
      { uri: 'a:2', blob: new Uint8Array([255]) },
    ],
    [
      { uri: 'a:1', text: 'x' },
      { uri: 'a:2', blob: '/w==' },
    ],
  ],
])('read returns %s', async (_, read, contents) => {
  const client = await serving(resource({ uri: 'a:1', name: 'one', mimeType: 'text/plain', read }))
  expect(await client.request('resources/read', { uri: 'a:1' })).toMatchObject({
    contents,
    ttlMs: 0,
    cacheScope: 'private',
  })
})

test('a template matches its URIs, and a missing resource is not found', async () => {
  const client = await serving(note)
  expect(await client.request('resources/read', { uri: 'note://2024/hello%20you' })).toMatchObject({
    contents: [{ uri: 'note://2024/hello%20you', mimeType: 'text/markdown', text: '2024: hello you' }],
  })
  for (const uri of ['note://1999/a', 'note://2024', 'other:thing', 'note://2024/..%2f..%2fetc'])
    expect(await client.send('resources/read', { uri })).toMatchObject({
      error: { code: -32602, message: 'Resource not found', data: { uri } },
    })
  expect(await client.send('resources/read', {})).toMatchObject({
    error: { code: -32602, message: 'Invalid params: missing uri' },
  })
})

test('a template lists its resources, page by page, after the fixed ones', async () => {
  const client = await serving(resource({ uri: 'a:1', name: 'one', read: () => 'x' }), note)
  const seen: unknown[] = []
  let cursor: unknown
  do {
    const page = await client.request('resources/list', cursor === undefined ? {} : { cursor })
    expect(page).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: 0 })
    seen.push(...(page['resources'] as { uri: string }[]).map(({ uri }) => uri))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  expect(seen).toEqual(['a:1', 'note://2024/a', 'note://2025/second'])
  expect(await client.send('resources/list', { cursor: 'nonsense' })).toMatchObject({ error: { code: -32602 } })
  expect(await client.request('resources/templates/list')).toMatchObject({
    resourceTemplates: [{ uriTemplate: 'note://{year}/{slug}', name: 'note' }],
  })
})

/** A template with pages of `size`, up to `total`. */
const listing = (scheme: string, total: number, size: number) =>
  resource({
    uri: `${scheme}:{id}`,
    name: scheme,
    read: () => 'x',
    list({ cursor = '0' }) {
      const from = Number(cursor)
      const ids = Array.from({ length: Math.min(size, total - from) }, (_, at) => from + at)
      return {
        resources: ids.map((id) => ({ uri: `${scheme}:${id}`, name: String(id) })),
        ...(from + size < total && { next: String(from + size) }),
      }
    },
  })

async function pagesOf(resources: readonly Resource[], pageSize: number): Promise<readonly (readonly string[])[]> {
  const client = await testClient(createServer(defineServer({ name: 'x', version: '1', resources }), { pageSize }))
  const pages: string[][] = []
  let cursor: unknown
  do {
    const page = await client.request('resources/list', cursor === undefined ? {} : { cursor })
    pages.push((page['resources'] as { uri: string }[]).map(({ uri }) => uri))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  return pages
}

test('one page holds fixed resources and those of all templates, because many clients read only one page', async () => {
  const fixed = resource({ uri: 'a:1', name: 'one', read: () => 'x' })
  const [page, ...more] = await pagesOf([fixed, listing('b', 5, 2), listing('c', 0, 2), listing('d', 1, 2)], 500)
  expect(page).toEqual(['a:1', 'b:0', 'b:1', 'b:2', 'b:3', 'b:4', 'd:0'])
  expect(more).toEqual([])
})

test('a full page ends, and the next one continues in the middle of a template', async () => {
  const fixed = ['a:1', 'a:2', 'a:3'].map((uri) => resource({ uri, name: uri, read: () => 'x' }))
  expect(await pagesOf([...fixed, listing('b', 5, 2), listing('c', 1, 1)], 2)).toEqual([
    ['a:1', 'a:2'],
    ['a:3', 'b:0', 'b:1'],
    ['b:2', 'b:3'],
    ['b:4', 'c:0'],
  ])
})

test('a template that returns nothing and always promises more does not hold a call', async () => {
  let asked = 0
  const endless = resource({
    uri: 'a:{id}',
    name: 'a',
    read: () => 'x',
    list: () => ({ resources: [], next: String(++asked) }),
  })
  const client = await serving(endless)
  expect(await client.request('resources/list')).toMatchObject({ resources: [], nextCursor: expect.any(String) })
  expect(asked).toBe(100)
})

test('fixed resources are listed in pages of the chosen size', async () => {
  const resources = Array.from({ length: 7 }, (_, i) => resource({ uri: `a:${i}`, name: `n${i}`, read: () => 'x' }))
  const server = createServer(defineServer({ name: 'x', version: '1', resources }), { pageSize: 3 })
  const client = await testClient(server, { revision: '2025-06-18' })
  const sizes: number[] = []
  let cursor: unknown
  do {
    const page = await client.request('resources/list', cursor === undefined ? {} : { cursor })
    sizes.push((page['resources'] as unknown[]).length)
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  expect(sizes).toEqual([3, 3, 1])
})

test('a resource may ask before it is read, and is cached as its definition says', async () => {
  const asking = resource({
    uri: 'a:1',
    name: 'one',
    cache: { ttlMs: 5000, scope: 'public' },
    ask: () => ({ who: form('Who?', z.object({ name: z.string() })) }),
    read: (_, { answers }) => answers.who.name,
  })
  const client = await serving(asking)
  const first = await client.request('resources/read', { uri: 'a:1' })
  expect(first).toMatchObject({ resultType: 'input_required' })
  expect(first).not.toHaveProperty('ttlMs')
  const inputResponses = { who: { action: 'accept', content: { name: 'Ann' } } }
  const read = await client.request('resources/read', {
    uri: 'a:1',
    inputResponses,
    requestState: first['requestState'],
  })
  expect(read).toMatchObject({ contents: [{ text: 'Ann' }], ttlMs: 5000, cacheScope: 'public' })
})

test('variables are completed', async () => {
  const client = await serving(note)
  const params = {
    ref: { type: 'ref/resource', uri: 'note://{year}/{slug}' },
    argument: { name: 'year', value: '202' },
  }
  expect(await client.request('completion/complete', params)).toMatchObject({
    completion: { values: ['2024', '2025'], total: 2, hasMore: false },
  })
})

test('an invalid return value of read is a bug', async () => {
  const client = await serving(resource({ uri: 'a:1', name: 'one', read: () => 5 as never }))
  expect(await client.send('resources/read', { uri: 'a:1' })).toMatchObject({
    error: { code: -32603, message: 'Internal error' },
  })
})

test.each<[string, () => unknown, RegExp]>([
  ['no scheme', () => resource({ uri: 'notes/a', name: 'n', read: () => '' }), /needs a scheme/],
  ['no name', () => resource({ uri: 'a:b', name: '', read: () => '' }), /add a name/],
  ['a bad template', () => resource({ uri: 'a:{b', name: 'n', read: () => '' }), /a:\{b/],
  [
    'completion of nothing',
    () => resource({ uri: 'a:{b}', name: 'n', complete: { c: () => [] }, read: () => '' }),
    /"complete\.c" is not a variable/,
  ],
  [
    'a list of one',
    () => resource({ uri: 'a:b', name: 'n', list: () => ({ resources: [] }), read: () => '' }),
    /"list" is for templates/,
  ],
])('%s fails when it is defined', (_, define, message) => {
  expect(define).toThrow(message)
})

test.each(['note://a b', 'note://über', 'http://[', 'a:"b"', 'a:%zz', 'a:x\\y', 'a:<b>'])(
  'the URI %s is refused when it is defined',
  (uri) => {
    expect(() => resource({ uri, name: 'x', read: () => '' })).toThrow(`resource "${uri}": not a valid URI; encode`)
  },
)

test.each([
  'a:1',
  'note://2024/a%20b',
  'urn:isbn:0451450523',
  'file:///a/b.txt',
  'data:,x',
  'https://example.com/?a=b#c',
])('the URI %s is accepted', (uri) => {
  expect(resource({ uri, name: 'x', read: () => '' }).name).toBe(uri)
})
