/** The official client of the Skills extension against our server: it checks every file against its digest. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { defineServer } from 'sluice'
import { serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { folder } from 'sluice/skills-node'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'

const skill = `\uFEFF---
# Comments are allowed.
name: pdf
description: |
  Fills PDF forms.

  Use it for "forms": also for those with ümlauts.
allowed-tools:
  - Read
  - Bash(git:*)
metadata: { version: "1.10", author: 'a: b' }
rating: 4.5
draft: false
empty:
---
# PDF
`
const files: { readonly [path: string]: string | Uint8Array } = {
  'pdf/SKILL.md': skill,
  'pdf/references/a b/ü.md': 'ü',
  'pdf/assets/form.pdf': Uint8Array.from({ length: 4096 }, (_, n) => (n * 7) % 256),
  'pdf/empty.txt': '',
  'pdf/.hidden/secret.txt': 'not served',
  'README.md': 'not served',
}

function writeSkills(): string {
  const root = temporaryFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

test('it lists a folder, reads every file, and finds digests and frontmatter right', async () => {
  const definition = defineServer({ name: 'x', version: '1', skills: folder(writeSkills()) })
  const { url, close } = await serveHttp(definition, { port: 0, use: [log({ info() {}, warn() {}, error() {} })] })
  onTestFinished(close)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  const skills = new SkillsClient(client)
  expect([skills.supported, skills.directoryRead]).toEqual([true, true])
  const [listed] = (await skills.list()).skills
  if (!listed || listed.resources === 'dynamic') throw new Error('no skill was listed')
  expect(listed.resources.map(({ uri }) => uri)).toEqual([
    'skill://pdf/SKILL.md',
    'skill://pdf/assets/form.pdf',
    'skill://pdf/empty.txt',
    'skill://pdf/references/a%20b/%C3%BC.md',
  ])
  expect((await skills.get(listed.uri)).skill).toEqual(listed)
  for (const { uri } of listed.resources) {
    const file = await skills.read(listed, uri)
    const path = decodeURIComponent(uri.slice('skill://'.length))
    expect(file.verified).toBe(true)
    expect(Buffer.from(file.bytes).equals(Buffer.from(files[path] ?? 'absent'))).toBe(true)
  }
  const { resources } = await skills.readDirectory('skill://pdf/references')
  expect(resources).toMatchObject([{ uri: 'skill://pdf/references/a%20b', mimeType: 'inode/directory' }])
})

test('a link inside the folder is refused: it could lead to any file of this machine', () => {
  const root = writeSkills()
  symlinkSync('/etc/passwd', join(root, 'pdf/passwd'))
  expect(() => folder(root)).toThrow(/passwd is a link or not a file/)
})

test('a missing folder, or one without skills, fails at the start', () => {
  expect(() => folder('/no/such/folder')).toThrow('/no/such/folder is not a folder')
  expect(() => folder(temporaryFolder())).toThrow('no skill found')
})
