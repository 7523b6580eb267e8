/** Server cards: the documents, and the page beside the endpoint. */

import { expect, onTestFinished, test } from 'vitest'
import { serveHttp, serveMany } from '../node.ts'
import { authenticate } from '../plugins/authenticate.ts'
import { log } from '../plugins/log.ts'
import { defineServer } from '../protocol/definition.ts'
import { card, catalogEntry, serverCard, serverJson } from './index.ts'

const notes = defineServer({
  ...{
    name: 'notes',
    version: '1.2.0',
    title: 'Notes',
    description: 'Keeps notes',
    websiteUrl: 'https://notes.example',
  },
  icons: [{ src: 'https://notes.example/icon.png' }],
})
const about = { name: 'com.example/notes', url: 'https://mcp.example.com/mcp' }
const repository = { url: 'https://github.com/example/notes', source: 'github', subfolder: 'server' }

test('the card has the identity of the definition, the address and all revisions', () => {
  expect(serverCard(notes, { ...about, repository })).toEqual({
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...{ name: 'com.example/notes', title: 'Notes', description: 'Keeps notes', version: '1.2.0' },
    ...{ websiteUrl: 'https://notes.example', repository, icons: [{ src: 'https://notes.example/icon.png' }] },
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://mcp.example.com/mcp',
        supportedProtocolVersions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
      },
    ],
  })
})

test('server.json has the package, the address or both', () => {
  const published = { identifier: '@example/notes', version: '1.2.0' }
  const packages = [{ registryType: 'npm', ...published, runtimeHint: 'npx', transport: { type: 'stdio' } }]
  const remotes = [{ type: 'streamable-http', url: 'https://mcp.example.com/mcp' }]
  expect(serverJson(notes, about, published)).toMatchObject({ name: 'com.example/notes', packages, remotes })
  expect(serverJson(notes, { name: about.name }, published)).not.toHaveProperty('remotes')
  expect(serverJson(notes, about)).not.toHaveProperty('packages')
  expect(() => serverJson(notes, { name: about.name })).toThrow('needs the address')
})

test('the catalog entry is anchored at the domain of the name, and leads to the card', () => {
  expect(catalogEntry(about)).toEqual({
    identifier: 'urn:air:example.com:mcp:notes',
    type: 'application/mcp-server-card+json',
    url: 'https://mcp.example.com/mcp/server-card',
  })
})

test.each([
  ['not a name in reverse DNS', { name: 'notes' }, {}],
  ['not a name in reverse DNS', { name: 'com.example/a/b' }, {}],
  ['not the address', { url: 'mcp.example.com' }, {}],
  ['not the address', { url: 'https://mcp.example.com/mcp?token=x' }, {}],
  ['needs a "description"', {}, { description: '' }],
  ['"description" has 101 characters', {}, { description: 'x'.repeat(101) }],
  ['takes no ranges', {}, { version: '^1.2.0' }],
])('a card fails when it is made: %s', (problem, options, definition) => {
  expect(() => serverCard({ ...notes, ...definition }, { ...about, ...options })).toThrow(problem)
})

const quiet = log({ info() {}, warn() {}, error() {} })

test('the card is served beside the endpoint, to every reader, and to no other path', async () => {
  const guarded = authenticate({ verifiers: [{ verify: async () => undefined }] })
  const serving = await serveHttp(notes, { port: 0, use: [quiet, guarded, card(about)] })
  onTestFinished(serving.close)
  const answer = await fetch(`${serving.url}/server-card`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual(serverCard(notes, about))
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/mcp-server-card+json',
    'cache-control': 'public, max-age=3600',
    'access-control-allow-origin': '*',
    etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
  })
  for (const path of ['/server-cards', '/other/server-card', '/mcp/server-card/x'])
    expect((await fetch(new URL(path, serving.url))).status).toBe(404)
})

test('each of several servers on a port has its own card', async () => {
  const urlOf = (base: string): string => `https://mcp.example.com/${base}/mcp`
  const other = { ...notes, description: 'Others' }
  const { urls, close } = await serveMany(
    {
      '/a': { server: notes, use: [quiet, card({ name: 'com.example/a', url: urlOf('a') })] },
      '/b': { server: other, use: [quiet, card({ name: 'com.example/b', url: urlOf('b') })] },
    },
    { port: 0 },
  )
  onTestFinished(close)
  for (const [base, description] of [
    ['a', 'Keeps notes'],
    ['b', 'Others'],
  ] as const)
    expect(await (await fetch(`${urls[`/${base}`]}/server-card`)).json()).toMatchObject({
      name: `com.example/${base}`,
      description,
      remotes: [{ url: urlOf(base) }],
    })
})
