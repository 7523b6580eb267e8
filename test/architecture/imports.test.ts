/** The one-way rule for imports: what a file may touch is told by the folder it is in. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../packages/sluice/src')

/** Folder → folders of ours it may import. `server` and the entries put everything together. */
const mayImport: { readonly [folder: string]: readonly string[] } = {
  core: ['core'],
  protocol: ['core', 'protocol'],
  layers: ['core', 'protocol', 'observe', 'layers'],
  observe: ['core', 'protocol', 'observe'],
  operate: ['core', 'protocol', 'observe', 'layers', 'approvals', 'transports', 'operate'],
  stores: ['core', 'stores'],
  approvals: ['core', 'approvals'],
  'running-calls': ['core', 'running-calls'],
  tasks: ['core', 'protocol', 'running-calls', 'tasks'],
  transports: ['core', 'protocol', 'transports'],
}

/** Files that run on Node alone; everything else must run on workerd, Deno, Bun and in browsers. */
const nodeOnly: readonly RegExp[] = [
  /^(node|main)\.ts$/,
  /^transports\/node\//,
  /^stores\/(sqlite|redis|contract|private-files)/,
  /^operate\/console\//,
]

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

test.each(files.filter((file) => !nodeOnly.some((name) => name.test(file))))('%s needs nothing of Node', (file) => {
  expect(importsOf(file).filter((source) => source.startsWith('node:'))).toEqual([])
})

test('the rule is about something: the folders and their imports are found', () => {
  expect(files.length).toBeGreaterThan(30)
  expect(importsOf('protocol/dispatch.ts')).toContain('../core/call.ts')
})
