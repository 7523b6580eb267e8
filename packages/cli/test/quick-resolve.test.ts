/** Modules of installed packages, which `quick-resolve.ts` finds without asking the file system. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const program = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))

/** Runs `sluice card` on a server whose version comes from the package `dependency`, made of these files. */
function cardOf(files: Readonly<Record<string, string>>): { readonly stdout: string; readonly stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-modules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write(
    'server.mjs',
    `import { version } from 'dependency'
     export default { name: 'found', version, description: 'A server', tools: [] }`,
  )
  for (const [path, text] of Object.entries(files)) write(`node_modules/dependency/${path}`, text)
  const args = [program, 'card', './server.mjs', '--name', 'com.example/found', '--only', 'card']
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
}

test.each([
  ['type module', { type: 'module', main: 'index.js' }, 'index.js', 'export const part = "2.3.4"'],
  ['CommonJS beside modules', { main: 'index.mjs' }, 'index.mjs', 'exports.part = "2.3.4"'],
])('a package with %s loads as Node loads it', (_, manifest, entry, part) => {
  const { stdout, stderr } = cardOf({
    'package.json': JSON.stringify({ name: 'dependency', ...manifest }),
    [entry]: `import { version } from './deep/again.mjs'
      export { version }`,
    'deep/again.mjs': 'export { part as version } from "../part.js"',
    'part.js': part,
  })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject({ version: '2.3.4' })
})

test('a file that a package lacks is named', () => {
  const { stderr } = cardOf({
    'package.json': '{"name":"dependency","type":"module","main":"index.js"}',
    'index.js': 'export { version } from "./lost.js"',
  })
  expect(stderr).toContain(join('node_modules', 'dependency', 'lost.js'))
})
