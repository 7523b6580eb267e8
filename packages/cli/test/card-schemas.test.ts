/**
 * The three documents of `sluice card` beside the rules of their schemas: `server.json` of 2025-12-11, the server card
 * v1 (SEP-2127), and the entry of an AI catalog. The rules are written here in our own words, and no further member is
 * allowed.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aFolder, sluice } from './command.ts'

const schemas = 'https://static.modelcontextprotocol.io/schemas'
const repository = z.strictObject({
  url: z.url(),
  source: z.string(),
  id: z.string().optional(),
  subfolder: z
    .string()
    .regex(/^(?!\/|.*\.\.)/)
    .optional(),
})
const icon = z.strictObject({
  src: z.url(),
  mimeType: z.string().optional(),
  sizes: z.array(z.string().regex(/^(\d+x\d+|any)$/)).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})
const identity = {
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^[^^~><=*]+$/),
  websiteUrl: z.url().optional(),
  repository: repository.optional(),
  icons: z.array(icon).optional(),
}
const remote = { type: z.enum(['streamable-http', 'sse']), url: z.string().regex(/^https?:\/\/\S+$/) }
const versions = z.array(z.string().regex(/^\d{4}-\d\d-\d\d$/))

const cardSchema = z.strictObject({
  $schema: z.literal(`${schemas}/v1/server-card.schema.json`),
  ...identity,
  remotes: z.array(z.strictObject({ ...remote, supportedProtocolVersions: versions.optional() })).optional(),
})
const packageSchema = z.strictObject({
  registryType: z.enum(['npm', 'pypi', 'oci', 'nuget', 'mcpb']),
  identifier: z.string().min(1),
  version: z
    .string()
    .min(1)
    .refine((version) => version !== 'latest'),
  runtimeHint: z.string().optional(),
  transport: z.strictObject({ type: z.literal('stdio') }),
})
const serverSchema = z.strictObject({
  $schema: z.literal(`${schemas}/2025-12-11/server.schema.json`),
  ...identity,
  packages: z.array(packageSchema).optional(),
  remotes: z.array(z.strictObject(remote)).optional(),
})
const catalogSchema = z.strictObject({
  identifier: z.string().regex(/^urn:air:[a-z0-9.-]+:mcp:[a-zA-Z0-9._-]+$/),
  type: z.literal('application/mcp-server-card+json'),
  url: z.url(),
})
const documents = z.strictObject({ card: cardSchema, 'server.json': serverSchema, catalog: catalogSchema })

function aModule(definition: object): string {
  const folder = aFolder()
  mkdirSync(join(folder, 'src'))
  const manifest = {
    ...{ type: 'module', name: '@example/notes', version: '1.0.0', mcpName: 'com.example/notes' },
    repository: { url: 'git+https://github.com/example/notes.git', directory: 'server' },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const file = join(folder, 'src/server.js')
  writeFileSync(file, `export default ${JSON.stringify({ name: 'notes', version: '1.0.0', tools: [], ...definition })}`)
  return file
}

test.each([
  ['the shortest definition', { description: 'Keeps notes' }],
  [
    'every member of a definition',
    {
      ...{
        title: 'Notes',
        description: 'x'.repeat(100),
        websiteUrl: 'https://notes.example',
        version: '2.1.0-alpha.3',
      },
      icons: [{ src: 'https://notes.example/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
    },
  ],
])('all three documents follow their schemas: %s', async (_, definition) => {
  const args = ['card', aModule(definition), '--url', 'https://mcp.example.com/mcp', '--json']
  const { out, code } = await sluice(aFolder(), args)
  expect(code).toBe(0)
  expect(documents.safeParse(JSON.parse(out))).toMatchObject({ success: true })
})

test('the rules can fail: a member more, a range as version, and a long description', () => {
  const card = { $schema: `${schemas}/v1/server-card.schema.json`, name: 'a/b', description: 'x', version: '1.0.0' }
  expect(cardSchema.safeParse(card).success).toBe(true)
  for (const wrong of [{ tools: [] }, { version: '^1.0.0' }, { description: 'x'.repeat(101) }, { name: 'b' }])
    expect(cardSchema.safeParse({ ...card, ...wrong }).success).toBe(false)
})
