/** What registries and desktop clients read of the servers: `server.json` and the manifests of the bundles. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { v0_3 } from '@anthropic-ai/mcpb'
import { expect, test } from 'vitest'

const servers = new URL('../../servers/', import.meta.url).pathname
const read = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(servers, path), 'utf8')) as Record<string, unknown>

test.each(['fitness', 'knowledge', 'lisp', 'memory', 'routes'])(
  'the registry finds the package of %s: the names, versions and limits it checks',
  (server) => {
    const manifest = read(`${server}/package.json`)
    const { name, version, description, packages } = read(`${server}/server.json`)
    // The registry reads mcpName in the published package, and takes the entry from nobody else.
    expect(name).toBe(manifest['mcpName'])
    expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    expect(String(description).length).toBeLessThanOrEqual(100)
    expect(version).toBe(manifest['version'])
    expect(packages).toEqual([
      expect.objectContaining({
        registryType: 'npm',
        identifier: manifest['name'],
        version,
        transport: { type: 'stdio' },
      }),
    ])
  },
)

test.each(['server.json', 'manifest.json'])('%s names only variables that the memory server reads', (file) => {
  const documented = readFileSync(join(servers, 'memory/README.md'), 'utf8').replaceAll('`…_', '`SLUICE_MEMORY_')
  for (const [name] of JSON.stringify(read(`memory/${file}`)).matchAll(/SLUICE_[A-Z_]+/g))
    expect(documented).toContain(name)
})

test.each(['knowledge', 'memory'])('the manifest of the bundle of %s is one, and starts its binary', (server) => {
  const manifest = v0_3.McpbManifestSchema.parse(read(`${server}/manifest.json`))
  const { name, version, bin } = read(`${server}/package.json`) as { name: string; version: string; bin: object }
  expect(manifest.version).toBe(version)
  const [main = ''] = Object.values(bin) as string[]
  expect(manifest.server.entry_point).toBe(join('node_modules', name, main))
  expect(manifest.server.mcp_config?.args?.[0]).toBe(`\${__dirname}/${manifest.server.entry_point}`)
})
