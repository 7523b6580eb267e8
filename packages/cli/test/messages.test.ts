/** What people read when something is wrong: the line of a module that fails, a refused key, the stderr of a server. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, listenWith, serveHttp, sluice } from './command.ts'

const library = new URL('../../sluice/lib/index.js', import.meta.url).href

/** A server whose tool returns `text` of another file, and whose tool `fail` has a bug and writes to stderr. */
function aProject(): string {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(cwd, 'text.ts'), "export const text: string = 'hi'\n")
  writeFileSync(
    join(cwd, 'server.ts'),
    `import { defineServer, tool } from '${library}'
import { text } from './text.ts'
const fail = tool({ name: 'fail', description: 'Fails', run: () => { console.error('on stderr'); throw new Error('a bug') } })
export default defineServer({ name: 'a', version: '1.0.0', tools: [tool({ name: 'say', description: 'Says', run: () => { console.error('on stderr'); return text } }), fail] })
`,
  )
  return cwd
}

const broken = [
  {
    source: 'const a = 1\nexport const text: string = hi()\n',
    says: 'text.ts:2: hi is not defined\n    export const text: string = hi()',
  },
  {
    source: '\n\nexport const text = "a\n',
    says: 'text.ts:3: Unterminated string constant\n    export const text = "a',
  },
  { source: 'import none from "none"\nexport const text = none\n', says: "text.ts:1: Cannot find package 'none'" },
  {
    source: 'export const other = 1\n',
    says: "server.ts:2: The requested module './text.ts' does not provide an export named 'text'\n    import { text } from './text.ts'",
  },
] as const

test('a module that cannot be reloaded is named with its line, and the server stays as it was', {
  timeout: 60_000,
}, async () => {
  const cwd = aProject()
  const { url, stderr } = await serveHttp(cwd, ['./server.ts', '--watch'])
  for (const { source, says } of broken) {
    writeFileSync(join(cwd, 'text.ts'), source)
    await expect.poll(stderr, { timeout: 15_000 }).toContain(`Not reloaded: ${says}`)
  }
  expect(await sluice(cwd, ['call', url, 'say'])).toMatchObject({ out: 'hi\n', code: 0 })
})

test('a module that cannot be loaded is named with its line', async () => {
  const cwd = aProject()
  writeFileSync(join(cwd, 'text.ts'), '\nexport const text = missing\n')
  const { code, err } = await sluice(cwd, ['serve', './server.ts', '--http', '--port', '0'])
  expect({ code, err }).toEqual({
    code: 1,
    err: 'text.ts:2: missing is not defined\n    export const text = missing\n',
  })
})

test('call shows the stderr of a started server if the tool fails, and not otherwise', async () => {
  const cwd = aProject()
  const target = `${process.execPath} ${new URL('../bin/sluice.js', import.meta.url).pathname} serve ${join(cwd, 'server.ts')} --stdio --data ${join(cwd, '.data')}`
  const good = await sluice(cwd, ['call', target, 'say'])
  expect(good).toMatchObject({ out: 'hi\n', err: '', code: 0 })
  const failed = await sluice(cwd, ['call', target, 'fail'])
  expect(failed).toMatchObject({ out: expect.stringContaining('Tool execution failed: fail'), code: 1 })
  expect(failed.err).toContain('on stderr')
})

test('a refused key is called refused, with the reference that the log of the server has', async () => {
  const cwd = aProject()
  writeFileSync(
    join(cwd, 'sluice.config.json'),
    JSON.stringify({ authenticate: {}, console: null, log: { file: join(cwd, 'log') } }),
  )
  const { url } = await listenWith(cwd, ['serve', './server.ts', '--http', '--port', '0'])
  const { err, code } = await sluice(cwd, ['call', url, '--token', 'sk_wrong'])
  expect(code).toBe(1)
  expect(err).toContain('The server refused this credential: it is unknown, expired or revoked.')
  const [, reference = ''] = /^Reference, for the operator: ([\w-]+)$/m.exec(err) ?? []
  expect(reference).not.toBe('')
  const examined = await sluice(cwd, ['doctor', url, '--token', 'sk_wrong'])
  expect(examined.out).toMatch(/the credential was refused \(reference [\w-]+\)/)
  const none = await sluice(cwd, ['call', url])
  expect(none.err).toContain('The server requires a credential. Give one')
  expect(none.err).toContain('keys.json in its data folder')
  expect(none.err).not.toContain('It said')
  await expect.poll(() => readFileSync(join(cwd, 'log'), 'utf8'), { timeout: 10_000 }).toContain(reference)
})
