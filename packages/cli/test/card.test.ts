/** `sluice card`: the three documents from a module and the package.json beside it. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, sluice } from './command.ts'

function aModule(manifest: object, definition: object): string {
  const folder = aFolder()
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...manifest }))
  const file = join(folder, 'src/server.js')
  writeFileSync(file, `export default ${JSON.stringify({ name: 'notes', version: '1.0.0', tools: [], ...definition })}`)
  return file
}
const published = {
  ...{ name: '@example/notes', version: '1.0.0', mcpName: 'com.example/notes' },
  repository: { url: 'git+https://github.com/example/notes.git', directory: 'server' },
}

test('prints all three, with names from package.json', async () => {
  const file = aModule(published, { description: 'Keeps notes' })
  const { out, code } = await sluice(aFolder(), ['card', file, '--url', 'https://mcp.example.com/mcp', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    card: {
      name: 'com.example/notes',
      repository: { url: 'https://github.com/example/notes', source: 'github', subfolder: 'server' },
      remotes: [{ url: 'https://mcp.example.com/mcp' }],
    },
    'server.json': { packages: [{ identifier: '@example/notes', version: '1.0.0' }], remotes: [{}] },
    catalog: { identifier: 'urn:air:example.com:mcp:notes', url: 'https://mcp.example.com/mcp/server-card' },
  })
  const text = await sluice(aFolder(), ['card', file])
  expect(text.out).toMatch(/Server card: .*\n\{[\s\S]*server\.json: .*\n\{/)
  expect(text.out).not.toContain('AI catalog')
})

test('--only prints one document, ready for a file', async () => {
  const file = aModule(published, { description: 'Keeps notes' })
  const { out } = await sluice(aFolder(), ['card', file, '--only', 'server.json'])
  expect(JSON.parse(out)).toMatchObject({ name: 'com.example/notes', packages: [{}] })
})

test.each<readonly [message: string, args: readonly string[], definition: object]>([
  ['A card needs a name such as com.example/notes: add --name', [], { description: 'Keeps notes' }],
  ['A card needs a description: add one to the definition, or --description', ['--name', 'com.example/a'], {}],
  ['"a" is not a name in reverse DNS', ['--name', 'a', '--description', 'x'], {}],
  [
    'needs the address of the server: add --url',
    ['--name', 'com.example/a', '--description', 'x', '--only', 'catalog'],
    {},
  ],
])('says what is missing, with exit code 2: %s', async (message, args, definition) => {
  const { err, code } = await sluice(aFolder(), ['card', aModule({}, definition), ...args])
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})

test('a built-in server opens without its data, and leaves nothing behind', async () => {
  const left = (): number => readdirSync(tmpdir()).filter((name) => name.startsWith('sluice-card-')).length
  const before = left()
  const { out } = await sluice(aFolder(), ['card', 'routes', '--name', 'dev.sluice/routes', '--only', 'card'])
  expect(JSON.parse(out)).toMatchObject({ name: 'dev.sluice/routes', title: 'Routes' })
  expect(left()).toBe(before)
})
