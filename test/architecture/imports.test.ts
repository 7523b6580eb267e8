/** The one-way rule for imports: the folder of a file decides what it may import. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../packages/sluice/src')

/** Maps a folder to our folders that it may import. `server` and the entries assemble everything. */
const mayImport: { readonly [folder: string]: readonly string[] } = {
  core: ['core'],
  protocol: ['core', 'protocol'],
  layers: ['core', 'protocol', 'observe', 'layers'],
  observe: ['core', 'protocol', 'observe'],
  operate: ['core', 'observe', 'operate'],
  stores: ['core', 'stores'],
  'json-schema': ['core', 'json-schema'],
  approvals: ['core', 'protocol', 'stores', 'approvals'],
  plugins: ['core', 'protocol', 'observe', 'layers', 'operate', 'stores', 'running-calls', 'tasks', 'park', 'plugins'],
  'running-calls': ['core', 'protocol', 'running-calls'],
  tasks: ['core', 'protocol', 'running-calls', 'tasks'],
  park: ['core', 'layers', 'running-calls', 'park'],
  apps: ['core', 'protocol', 'apps'],
  card: ['core', 'protocol', 'card'],
  skills: ['core', 'protocol', 'skills'],
  transports: ['core', 'protocol', 'transports'],
  testing: ['core', 'protocol', 'layers', 'plugins', 'approvals', 'stores', 'testing', ''],
  // The transports have the environment of child processes.
  client: ['core', 'protocol', 'transports', 'client'],
  gateway: [
    ...['core', 'protocol', 'layers', 'stores', 'transports', 'json-schema', 'client', 'approvals', 'skills'],
    'gateway',
  ],
}

/** Folders and entries whose files run on Node alone. Everything else must run on workerd, Deno, Bun and in browsers. */
const onNode: readonly string[] = [
  'transports/node/',
  'client/node/',
  'gateway/node/',
  'skills/node/',
  'stores/',
  'node.ts',
  'main.ts',
  'internal.ts',
]
/** Exceptions in these folders. */
const portable: readonly string[] = ['stores/memory.ts', 'stores/memory-bus.ts', 'stores/sorted-names.ts']
const needsNode = (file: string): boolean =>
  !portable.includes(file) &&
  onNode.some((folder) => file === folder || (folder.endsWith('/') && file.startsWith(folder)))

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.d.ts'),
)

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)[^'"]*?from '([^']+)'/gms)].map(
    ([, source = '']) => source,
  )

const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

test.each(files.filter((file) => folderOf(file) in mayImport))('%s imports only what its folder may', (file) => {
  const allowed = mayImport[folderOf(file)] ?? []
  const ours = importsOf(file).filter((source) => source.startsWith('.'))
  const targets = ours.map((source) => folderOf(relative(root, join(root, dirname(file), source))))
  expect(targets.filter((target) => !allowed.includes(target))).toEqual([])
})

test.each(files.filter((file) => !needsNode(file)))('%s needs nothing of Node', (file) => {
  expect(importsOf(file).filter((source) => source.startsWith('node:'))).toEqual([])
})

test('every folder has a rule', () => {
  expect([...new Set(files.map(folderOf))].filter((folder) => folder !== '' && !(folder in mayImport))).toEqual([])
})

test('the rule is about something: the folders and their imports are found', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(importsOf('protocol/dispatch.ts')).toContain('../core/call.ts')
})
