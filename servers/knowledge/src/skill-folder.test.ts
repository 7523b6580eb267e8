/** A folder `skills` beside the articles: served as skills from a folder and from an index file, and not as articles. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Server } from 'sluice'
import { createServer, nodeClock } from 'sluice/node'
import { log } from 'sluice/plugins'
import { testClient } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { build } from './build.ts'
import { serve } from './edge.ts'
import { open } from './open.ts'

const silent = { info() {}, warn() {}, error() {} }
const skillMd = (description: string): string => `---\nname: review\ndescription: ${description}\n---\n# Review\n`

function aFolder(files: { readonly [path: string]: string | Uint8Array }): string {
  const root = mkdtempSync(join(tmpdir(), 'sluice-knowledge-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}
const files = {
  'guide.md': '# Guide\n\nHow to.\n',
  'skills/review/SKILL.md': skillMd('Reviews'),
  'skills/review/logo.png': Uint8Array.of(0x89, 0x50, 0xff),
}

async function serving(path: string): Promise<Server> {
  const opened = await open({ folder: path, argument: path, env: {}, logger: silent, clock: nodeClock })
  onTestFinished(() => opened.close())
  const server = createServer(opened.definition, { use: [log(silent)] })
  opened.started?.(server)
  return server
}
const slugs = async (server: Server): Promise<unknown> =>
  (await (await testClient(server)).call('list_articles'))['structuredContent']
const listed = async (server: Server): Promise<unknown> =>
  (await (await testClient(server)).request('skills/list'))['skills']

test('the folder and the index file serve the same skills, and the articles without them', async () => {
  const root = aFolder(files)
  const out = join(root, 'out.json')
  await build.run([root, '--out', out])
  const [fromFolder, fromFile] = [await serving(root), await serving(out)]
  for (const server of [fromFolder, fromFile]) expect(await slugs(server)).toMatchObject({ total: 1 })
  expect(await listed(fromFile)).toEqual(await listed(fromFolder))
  expect(await listed(fromFolder)).toMatchObject([
    { uri: 'skill://review/SKILL.md', resources: [{}, { uri: 'skill://review/logo.png', size: 3 }] },
  ])
})

test('the edge serves the skills of an index file', async () => {
  const root = aFolder(files)
  const out = join(root, 'out.json')
  await build.run([root, '--out', out])
  const params = { uri: 'skill://review/SKILL.md' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const answer = await serve(JSON.parse(readFileSync(out, 'utf8')))(
    new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }),
  )
  expect(await answer.json()).toMatchObject({ result: { contents: [{ text: skillMd('Reviews') }] } })
})

test('a folder of that name without a SKILL.md holds articles', async () => {
  const server = await serving(aFolder({ 'skills/cooking.md': '# Cooking\n\nHow to cook.\n' }))
  expect(await slugs(server)).toMatchObject({ total: 1 })
  await expect(listed(server)).rejects.toThrow('Method not found')
})

test('a bad skill fails at the start and in a build, with its file and field', async () => {
  const root = aFolder({ ...files, 'skills/review/SKILL.md': skillMd('""') })
  await expect(serving(root)).rejects.toThrow(`${join(root, 'skills')}/review/SKILL.md: "description" must say`)
  await expect(build.run([root, '--out', join(root, 'out.json')])).rejects.toThrow('review/SKILL.md: "description"')
  const linked = aFolder(files)
  symlinkSync('/etc/hostname', join(linked, 'skills/review/host'))
  await expect(serving(linked)).rejects.toThrow('host is a link')
})

test('a changed skill notifies clients; one that became invalid stays as it was', { timeout: 120_000 }, async () => {
  const root = aFolder(files)
  const server = await serving(root)
  const client = await testClient(server, { revision: '2025-11-25' })
  const modern = await testClient(server)
  const description = async (): Promise<unknown> =>
    (await modern.request('skills/get', { uri: 'skill://review/SKILL.md' }))['skill']
  writeFileSync(join(root, 'skills/review/SKILL.md'), skillMd('Reviews well'))
  await expect
    .poll(() => client.received, { timeout: 60_000 })
    .toContainEqual(expect.objectContaining({ method: 'notifications/resources/list_changed' }))
  expect(await description()).toMatchObject({ frontmatter: { description: 'Reviews well' } })
  writeFileSync(join(root, 'skills/review/SKILL.md'), 'gone')
  writeFileSync(join(root, 'other.md'), '# Other\n\nAnother.\n')
  await expect.poll(() => slugs(server), { timeout: 60_000 }).toMatchObject({ total: 2 })
  expect(await description()).toMatchObject({ frontmatter: { description: 'Reviews well' } })
})
