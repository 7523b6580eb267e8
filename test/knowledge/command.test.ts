/** The command as a person types it. */

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { fromIndex } from '../../servers/knowledge/src/index.ts'
import { version } from '../../servers/knowledge/src/version.ts'
import { aFolder, anArticle } from '../kit/generators/markdown-folder.ts'

const program = fileURLToPath(new URL('../../servers/knowledge/dist/main.js', import.meta.url))

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}
/** Without input, so that a started server ends at once. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const home = await aFolder()
  return new Promise((resolve) => {
    const options = { cwd: home, env: { ...process.env, XDG_DATA_HOME: home, ...env } }
    const child = execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin?.end()
  })
}

test('build makes one file of the visible articles', async () => {
  const folder = await aFolder({ 'a.md': '# A', 'b.md': anArticle('Secret', 'status: Draft') })
  const out = join(folder, 'index.json')
  const { code, stdout, stderr } = await run(['build', folder, '--out', out, '--title', 'My notes'])
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(/index\.json: 1 article, \d+ KB; 1 hidden article left out:\n {2}b\.md: status: Draft\n$/)
  const text = await readFile(out, 'utf8')
  expect(text).not.toContain('Secret')
  expect(fromIndex(JSON.parse(text)).articles).toMatchObject([{ slug: 'a', title: 'A' }])
})

test('build writes nothing if a file is invalid, and names file and field', async () => {
  const folder = await aFolder({ 'a.md': '# A', 'notes/b.md': anArticle('B', 'status: Lvie') })
  const out = join(folder, 'index.json')
  const { code, stderr } = await run(['build', folder, '--out', out])
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^sluice-knowledge: nothing was written; fix these files first:\n {2}notes\/b\.md: status: /),
  ])
  await expect(readFile(out)).rejects.toThrow('ENOENT')
})

test.each([
  [['build'], 1, /usage: build <folder>/],
  [['build', '/nowhere/at/all'], 1, /sluice-knowledge: .*\/nowhere\/at\/all/],
  [['/nowhere/at/all'], 1, /^sluice-knowledge: \/nowhere\/at\/all does not exist; name a folder/],
  [['a', 'b'], 2, /Unexpected argument 'b'/],
  [['--bogus'], 2, /--bogus[\s\S]*sluice-knowledge \[folder\]/],
])('%j is answered with what to do instead', async (args, code, said) => {
  const ran = await run(args)
  expect(ran).toMatchObject({ code, stdout: '' })
  expect(ran.stderr).toMatch(said)
  expect(ran.stderr).not.toMatch(/ {4}at /)
})

test('a port that is in use is named, with what to do', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => {
    taken.close()
  })
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const { code, stderr } = await run(['--http', '--port', String(port)])
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^sluice-knowledge: .*EADDRINUSE.*; choose another with --port\n$/),
  ])
})

test('--version and --help are answered on stdout', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
  expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('build <folder>') })
})

test('the start-up message says what is missing', async () => {
  const empty = await aFolder()
  expect((await run([empty])).stderr).toContain(`no articles yet; put Markdown files into ${empty}`)
  const drafts = await aFolder({ 'a.md': anArticle('A', 'draft: true') })
  expect((await run([drafts])).stderr).toContain('0 articles; a file is left out: a.md: draft: true')
  const wrong = await aFolder({
    ...{ 'a.md': '# A', 'b.md': '---\ntitle: [\n---\n', 'c.md': anArticle('C', 'status: Proposed') },
    ...{ 'd.md': anArticle('D', 'tags: []'), 'e.md': anArticle('E', 'tags: []') },
  })
  expect((await run([], { SLUICE_KNOWLEDGE_FOLDER: wrong })).stderr).toMatch(
    /1 article; 4 files are left out: b\.md: front matter: .*; c\.md: status: Proposed; d\.md: it has no status, but other files have one; and 1 more, which the log names/,
  )
  const broken = await aFolder({ 'index.json': '{' })
  expect(await run([join(broken, 'index.json')])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'index.json: The index file has another format; build it again with "sluice-knowledge build"',
    ),
  })
})
