/**
 * The bundles as a desktop client has them: made, validated and unpacked by the official tool, and run as the manifest
 * says.
 */

import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getMcpConfigForManifest, unpackExtension, v0_3, validateManifest } from '@anthropic-ai/mcpb'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import vec from '../../node_modules/sqlite-vec/package.json' with { type: 'json' }
import type { OfficialClient } from '../kit/clients/official.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { startEmbeddings } from '../kit/processes/embedding-service.ts'

const root = new URL('../../', import.meta.url).pathname
let work = ''
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'sluice-bundles-'))
  const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` }
  execFileSync(process.execPath, [join(root, 'scripts/mcpb.ts'), '--out', work], { env, stdio: 'pipe' })
}, 300_000)
afterAll(() => rmSync(work, { recursive: true, force: true }))

async function unpacked(server: string): Promise<string> {
  const folder = join(work, server)
  expect(
    await unpackExtension({ mcpbPath: join(work, `sluice-${server}.mcpb`), outputDir: folder, silent: true }),
  ).toBe(true)
  expect(validateManifest(join(folder, 'manifest.json'))).toBe(true)
  return folder
}

/** Like a client that lets the user fill in `settings`. */
async function installed(folder: string, settings: Record<string, string>): Promise<OfficialClient> {
  const { default: json } = (await import(join(folder, 'manifest.json'), { with: { type: 'json' } })) as {
    default: unknown
  }
  const config = await getMcpConfigForManifest({
    manifest: v0_3.McpbManifestSchema.parse(json),
    extensionPath: folder,
    systemDirs: {},
    userConfig: settings,
    pathSeparator: '/',
  })
  if (!config) throw new Error('The manifest starts nothing')
  const env = { ...config.env, XDG_DATA_HOME: mkdtempSync(join(work, 'data-')) }
  const peer = await connectV2(
    { transport: 'stdio', command: process.execPath, args: [...(config.args ?? [])], env, stderr: 'ignore' },
    'auto',
  )
  onTestFinished(() => peer.close())
  return peer
}
const patient = { timeout: 120_000 }
const said = (result: unknown): string => JSON.stringify(result)

test('memory: contains the native library of every platform it names, and finds by meaning', patient, async () => {
  const folder = await unpacked('memory')
  const native = globSync('node_modules/sqlite-vec-*/vec0.*', { cwd: folder }).map((path) => path.split('/')[1])
  expect(native.toSorted()).toEqual(Object.keys(vec.optionalDependencies).toSorted())

  const embeddings = await startEmbeddings()
  onTestFinished(() => embeddings.stop())
  const memory = await installed(folder, {
    embeddings: 'ollama',
    embeddings_url: embeddings.url,
    embeddings_model: 'made',
  })
  await memory.call('add_memory', { text: 'The car is in the garage' })
  await memory.call('add_memory', { text: 'Bread needs yeast' })
  await expect
    .poll(async () => said(await memory.call('search_memory', { query: 'automobile' })), { timeout: 60_000 })
    .toContain('garage')
})

test('memory: without an embedding service it stores and finds by words', patient, async () => {
  const memory = await installed(await unpacked('memory'), {})
  await memory.call('add_memory', { text: 'The kettle whistles' })
  expect(said(await memory.call('search_memory', { query: 'kettle' }))).toContain('whistles')
})

test('knowledge: serves the folder that its user chose', patient, async () => {
  const folder = join(work, 'notes')
  mkdirSync(folder)
  writeFileSync(join(folder, 'tea.md'), '# Tea\n\nWater at 80 °C.\n')
  const knowledge = await installed(await unpacked('knowledge'), { folder })
  expect(said(await knowledge.call('search_articles', { query: 'tea' }))).toContain('Tea')
})
