/** Modules of installed packages, which `quick-modules.ts` finds and reads in few steps. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const program = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))

type Files = Readonly<Record<string, string>>

const server: Files = {
  'server.mjs': `import { version } from 'dependency'
    export default { name: 'found', version, description: 'A server', tools: [] }`,
}

/** The package `dependency`, made of these files. */
const dependency = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`node_modules/dependency/${path}`, text]))

/** Runs `sluice card` on a folder with these files. */
function cardOf(files: Files, options: readonly string[] = []): { readonly stdout: string; readonly stderr: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-modules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const args = [...options, program, 'card', './server.mjs', '--name', 'com.example/found', '--only', 'card']
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
}

test.each([
  ['type module', { type: 'module', main: 'index.js' }, 'index.js', 'export const part = "2.3.4"'],
  ['CommonJS beside modules', { main: 'index.mjs' }, 'index.mjs', 'exports.part = "2.3.4"'],
])('a package with %s loads as Node loads it', (_, manifest, entry, part) => {
  const { stdout, stderr } = cardOf({
    ...server,
    ...dependency({
      'package.json': JSON.stringify({ name: 'dependency', ...manifest }),
      [entry]: `import { version } from './deep/again.mjs'
        export { version }`,
      'deep/again.mjs': 'export { part as version } from "../part.js"',
      'part.js': part,
    }),
  })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject({ version: '2.3.4' })
})

test('a file that a package lacks is named', () => {
  const { stderr } = cardOf({
    ...server,
    ...dependency({
      'package.json': '{"name":"dependency","type":"module","main":"index.js"}',
      'index.js': 'export { version } from "./lost.js"',
    }),
  })
  expect(stderr).toContain(join('node_modules', 'dependency', 'lost.js'))
})

test('a package can tell that its optional file is not there', () => {
  const { stdout } = cardOf({
    ...server,
    ...dependency({
      'package.json': '{"name":"dependency","type":"module","main":"index.js"}',
      'index.js': `export { part } from './part.js'
        const isMissing = (thrown) => ({ version: thrown.code === 'ERR_MODULE_NOT_FOUND' ? '2.3.4' : thrown.code })
        export const { version } = await import('./optional.js').catch(isMissing)`,
      'part.js': 'export const part = 1',
    }),
  })
  expect(JSON.parse(stdout)).toMatchObject({ version: '2.3.4' })
})

test('a module may begin with a byte order mark and a line for the shell', () => {
  const { stdout } = cardOf({
    'server.mjs': `\uFEFF#!/usr/bin/env node
      export default { name: 'found', version: '2.3.4', description: 'A server', tools: [] }`,
  })
  expect(JSON.parse(stdout)).toMatchObject({ version: '2.3.4' })
})

/** A module that changes every file called `part.js`, as instrumentation does. */
const hook = `export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context)
  return url.endsWith('/part.js') ? { ...loaded, source: String(loaded.source).replace('old', 'new') } : loaded
}`
const register = `import { register } from 'node:module'
register('./hook.mjs', import.meta.url)`
const changed: Files = {
  'hook.mjs': hook,
  'register.mjs': register,
  ...dependency({
    'package.json': '{"name":"dependency","type":"module","main":"index.js"}',
    'index.js': 'export { version } from "./part.js"',
    'part.js': 'export const version = "1.0.0-old"',
  }),
}

test.each([['--import=./register.mjs'], ['--experimental-config-file=./node.json']])(
  'hooks of the option %s see the modules of packages',
  (option) => {
    const config: Files = { 'node.json': '{"nodeOptions":{"import":["./register.mjs"]}}' }
    const { stdout } = cardOf({ ...server, ...changed, ...config }, [option])
    expect(JSON.parse(stdout)).toMatchObject({ version: '1.0.0-new' })
  },
)

test('hooks that a server registers see the modules that it imports then', () => {
  const { stdout } = cardOf({
    ...changed,
    'server.mjs': `import './register.mjs'
      const { version } = await import('dependency')
      export default { name: 'found', version, description: 'A server', tools: [] }`,
  })
  expect(JSON.parse(stdout)).toMatchObject({ version: '1.0.0-new' })
})
