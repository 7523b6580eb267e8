/** What registries and desktop clients read of the servers: `server.json` and the manifests of the bundles. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { v0_3 } from '@anthropic-ai/mcpb'
import { expect, test } from 'vitest'
import * as z from 'zod'

const root = new URL('../../servers/', import.meta.url).pathname
const read = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>
const servers = ['fitness', 'knowledge', 'lisp', 'memory', 'routes']

/**
 * The part of the registry's schema that we use, revision 2025-12-11, which is on no package registry. Strict: look up
 * a new member there first. https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
const short = z.string().min(1).max(100)
const input = {
  description: z.string().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  choices: z.array(z.string()).optional(),
  default: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
}
const exactVersion = z.string().regex(/^\d+\.\d+\.\d+$/)
const serverSchema = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: short.optional(),
  description: short,
  version: exactVersion,
  packages: z.array(
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version: exactVersion,
      runtimeHint: z.literal('npx').optional(),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z
        .array(z.strictObject({ ...input, type: z.literal('positional'), valueHint: z.string() }))
        .optional(),
      environmentVariables: z.array(z.strictObject({ ...input, name: z.string() })).optional(),
    }),
  ),
})

test.each(servers)('server.json of %s is valid for the registry, and names the published package', (server) => {
  const manifest = read(`${server}/package.json`)
  const { name, version, packages } = serverSchema.parse(read(`${server}/server.json`))
  // The registry reads mcpName in the published package, and accepts the entry from no other source.
  expect(name).toBe(manifest['mcpName'])
  expect(version).toBe(manifest['version'])
  expect(packages).toMatchObject([{ identifier: manifest['name'], version }])
})

/** The README shortens names with a common prefix. */
const documented = (server: string): string =>
  readFileSync(join(root, server, 'README.md'), 'utf8').replaceAll('`…_', '`SLUICE_MEMORY_')

test.each([...servers.map((server) => `${server}/server.json`), 'memory/manifest.json', 'knowledge/manifest.json'])(
  "%s names only variables that the server's README explains",
  (file) => {
    const [server = ''] = file.split('/')
    for (const [name] of JSON.stringify(read(file)).matchAll(/\b[A-Z]+_[A-Z_]+\b/g))
      expect(documented(server)).toContain(name)
  },
)

test.each(['knowledge', 'memory'])('the manifest of the bundle of %s is valid, and starts its binary', (server) => {
  const manifest = v0_3.McpbManifestSchema.parse(read(`${server}/manifest.json`))
  const { name, version, bin } = read(`${server}/package.json`) as { name: string; version: string; bin: object }
  expect(manifest.version).toBe(version)
  const [main = ''] = Object.values(bin) as string[]
  expect(manifest.server.entry_point).toBe(join('node_modules', name, main))
  expect(manifest.server.mcp_config?.args?.[0]).toBe(`\${__dirname}/${manifest.server.entry_point}`)
})
