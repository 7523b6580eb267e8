/** `skills()`: what a bad skill says at the start, and what the three methods answer. */

import { expect, test } from 'vitest'
import { createServer } from '../node.ts'
import { log } from '../plugins/log.ts'
import { defineServer } from '../protocol/definition.ts'
import type { Server } from '../protocol/server.ts'
import { testClient } from '../testing/client.ts'
import { skills } from './index.ts'
import type { SkillFiles } from './skill.ts'

const skillMd = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n\n# ${name}\n`
const quiet = log({ info() {}, warn() {}, error() {} })
const serverOf = (files: SkillFiles, pageSize = 500): Server =>
  createServer(defineServer({ name: 'x', version: '1', skills: skills(files) }), { pageSize, use: [quiet] })

test.each<readonly [problem: string, files: SkillFiles]>([
  ['skills: no skill found; a skill is a folder with a SKILL.md', { 'README.md': 'x' }],
  ['skills/SKILL.md: move it into a folder', { 'SKILL.md': skillMd('pdf') }],
  ['skills/pdf/SKILL.md: begin the file with "---"', { 'pdf/SKILL.md': '# PDF' }],
  ['skills/pdf/SKILL.md: "name" is "pdfs", but its folder is "pdf"', { 'pdf/SKILL.md': skillMd('pdfs') }],
  ['skills/PDF/SKILL.md: "name" must have 1 to 64', { 'PDF/SKILL.md': skillMd('PDF') }],
  ['skills/a--b/SKILL.md: "name" must have 1 to 64', { 'a--b/SKILL.md': skillMd('a--b') }],
  ['skills/pdf/SKILL.md: "description" must say', { 'pdf/SKILL.md': '---\nname: pdf\n---\n' }],
  ['skills/pdf/SKILL.md: "description" must say', { 'pdf/SKILL.md': '---\nname: pdf\ndescription: 5\n---\n' }],
  [
    'skills/pdf/SKILL.md: "description" has more than 1024',
    { 'pdf/SKILL.md': `---\nname: pdf\ndescription: ${'x'.repeat(1025)}\n---\n` },
  ],
  ['skills/pdf/SKILL.md: line 3: ', { 'pdf/SKILL.md': '---\nname: pdf\ndescription: a: b\n---\n' }],
  ['skills/pdf/SKILL.md: line 3: "name" is there twice', { 'pdf/SKILL.md': '---\nname: pdf\nname: pdf\n---\n' }],
  ['skills/pdf/SKILL.md: line 2: the fields', { 'pdf/SKILL.md': '---\n- pdf\n---\n' }],
  ['skills/pdf/SKILL.md: line 4: .inf is not a JSON value', { 'pdf/SKILL.md': skillMd('pdf', 'limit: .inf\n') }],
  ['skills/pdf/SKILL.md: line 4: "__proto__" is not a name', { 'pdf/SKILL.md': skillMd('pdf', '__proto__: {a: 1}\n') }],
  ['line 4: "__proto__" is not a name', { 'pdf/SKILL.md': skillMd('pdf', 'metadata: { "__proto__": a }\n') }],
  ['skills/pdf/SKILL.md: "metadata" must have texts', { 'pdf/SKILL.md': skillMd('pdf', 'metadata: [a]\n') }],
  ['skills/pdf/SKILL.md: "metadata" must have texts', { 'pdf/SKILL.md': skillMd('pdf', 'metadata: { v: 1.0 }\n') }],
  ['skills/pdf/SKILL.md: "compatibility" must', { 'pdf/SKILL.md': skillMd('pdf', 'compatibility: [node]\n') }],
  [
    'skills/pdf/SKILL.md: "metadata.io.modelcontextprotocol/x" is reserved',
    { 'pdf/SKILL.md': skillMd('pdf', 'metadata:\n  io.modelcontextprotocol/x: a\n') },
  ],
  ['skills/pdf/SKILL.md: the file must be UTF-8', { 'pdf/SKILL.md': Uint8Array.of(0xff) }],
  [
    'skills/b/pdf/SKILL.md: "name" is taken by skills/a/pdf/SKILL.md',
    { 'a/pdf/SKILL.md': skillMd('pdf'), 'b/pdf/SKILL.md': skillMd('pdf') },
  ],
  ['"../pdf/SKILL.md" is not a relative path', { '../pdf/SKILL.md': skillMd('pdf') }],
  ['"my skills/pdf/SKILL.md": the first folder', { 'my skills/pdf/SKILL.md': skillMd('pdf') }],
  [
    'skills/pdf/: 513 files; a skill has at most 512',
    {
      'pdf/SKILL.md': skillMd('pdf'),
      ...Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`pdf/${n}.txt`, 'x'])),
    },
  ],
  [
    'a skill has at most 16777216',
    { 'pdf/SKILL.md': skillMd('pdf'), 'pdf/large.bin': new Uint8Array(16 * 1024 * 1024) },
  ],
])('fails at the start: %s', (problem, files) => {
  expect(() => skills(files)).toThrow(problem)
})

test('lists skills by page, and gets each by its URI', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const client = await testClient(
    serverOf(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillMd(name)])), 2),
  )
  const found: unknown[] = []
  let cursor: unknown
  do {
    const page = await client.request('skills/list', cursor === undefined ? {} : { cursor })
    expect(page).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'public' })
    found.push(...(page['skills'] as { uri: string }[]).map(({ uri }) => uri))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  expect(found).toEqual(names.map((name) => `skill://${name}/SKILL.md`))
  expect(await client.request('skills/get', { uri: 'skill://c/SKILL.md' })).toMatchObject({
    skill: { uri: 'skill://c/SKILL.md', frontmatter: { name: 'c', description: 'Does c' } },
  })
  for (const params of [{ cursor: 'x' }, { cursor: 5 }])
    await expect(client.request('skills/list', params)).rejects.toMatchObject({ error: { code: -32602 } })
  for (const params of [{}, { uri: 5 }, { uri: 'skill://z/SKILL.md' }, { uri: 'skill://c' }])
    await expect(client.request('skills/get', params)).rejects.toMatchObject({ error: { code: -32602 } })
})

const nested: SkillFiles = {
  'team/pdf/SKILL.md': skillMd('pdf'),
  'team/pdf/my notes.md': 'Notes',
  'team/pdf/scripts/deep/fill.py': 'print(1)',
  'team/pdf/extra/forms/SKILL.md': skillMd('forms'),
  'team/README.md': 'Not part of a skill',
}

test('reads every directory of a skill, and no other', async () => {
  const client = await testClient(serverOf(nested))
  const read = async (uri: string): Promise<unknown[]> =>
    (
      (await client.request('resources/directory/read', { uri }))['resources'] as { uri: string; mimeType: string }[]
    ).map((child) => [child.uri, child.mimeType])
  expect(await read('skill://team/pdf')).toEqual([
    ['skill://team/pdf/SKILL.md', 'text/markdown'],
    ['skill://team/pdf/extra', 'inode/directory'],
    ['skill://team/pdf/my%20notes.md', 'text/markdown'],
    ['skill://team/pdf/scripts', 'inode/directory'],
  ])
  expect(await read('skill://team/pdf/scripts')).toEqual([['skill://team/pdf/scripts/deep', 'inode/directory']])
  expect(await read('skill://team/pdf/extra/forms')).toEqual([
    ['skill://team/pdf/extra/forms/SKILL.md', 'text/markdown'],
  ])
  for (const uri of ['skill://team', 'skill://team/pdf/', 'skill://team/pdf/SKILL.md', 'skill://other'])
    await expect(client.request('resources/directory/read', { uri })).rejects.toMatchObject({ error: { code: -32602 } })
})

test('a nested skill is listed by itself, and its files belong to the outer skill too', async () => {
  const client = await testClient(serverOf(nested))
  const { skills: listed } = await client.request('skills/list')
  expect(
    (listed as { uri: string; resources: { uri: string }[] }[]).map(({ uri, resources }) => [uri, resources.length]),
  ).toEqual([
    ['skill://team/pdf/SKILL.md', 4],
    ['skill://team/pdf/extra/forms/SKILL.md', 1],
  ])
})

test('clients of every revision can read the files; the methods are of 2026-07-28', async () => {
  const server = serverOf(nested)
  for (const revision of ['2024-11-05', '2025-11-25', '2026-07-28'] as const) {
    const client = await testClient(server, { revision })
    for (const [uri, text] of [
      ['skill://team/pdf/SKILL.md', skillMd('pdf')],
      ['skill://team/pdf/my%20notes.md', 'Notes'],
    ])
      expect(await client.request('resources/read', { uri })).toMatchObject({ contents: [{ uri, text }] })
    await expect(client.request('resources/read', { uri: 'skill://team/README.md' })).rejects.toThrow()
    const { resources } = await client.request('resources/list')
    expect((resources as { name: string }[]).map(({ name }) => name)).toEqual(['pdf', 'forms'])
    if (revision !== '2026-07-28')
      await expect(client.request('skills/list')).rejects.toMatchObject({ error: { code: -32601 } })
  }
})

test('an update that changes one file beside SKILL.md notifies clients', async () => {
  const server = serverOf(nested)
  const client = await testClient(server, { revision: '2025-11-25' })
  const same = { name: 'x', version: '1' }
  server.update({ ...same, skills: skills(nested) })
  expect(client.received).toEqual([])
  server.update({ ...same, skills: skills({ ...nested, 'team/pdf/my notes.md': 'Other' }) })
  expect(client.received).toMatchObject([{ method: 'notifications/resources/list_changed' }])
})

test('a server without skills does not have the extension', async () => {
  const plain = await testClient(createServer({ name: 'x', version: '1' }, { use: [quiet] }))
  expect((await plain.request('server/discover'))['capabilities']).not.toHaveProperty('extensions')
  await expect(plain.request('skills/list')).rejects.toMatchObject({ error: { code: -32601 } })
  const client = await testClient(serverOf(nested))
  expect((await client.request('server/discover'))['capabilities']).toMatchObject({
    resources: {},
    extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
  })
})
