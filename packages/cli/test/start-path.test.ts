/** The packages that `sluice serve` loads before its first answer, because each file delays it. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, main } from './command.ts'

const recorder = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { process.stderr.write('LOADED ' + url + '\\n'); return next(url, context) } })`)}`

/** Serves an empty server on stdio until its input ends, and returns the files that were loaded. */
function filesLoadedWith(env: Record<string, string>): string {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'server.mjs'), `export default { name: 'empty', version: '1', tools: [] }`)
  const args = ['--import', recorder, main, 'serve', './server.mjs', '--stdio', '--data', join(cwd, 'data')]
  const { stderr, status } = spawnSync(process.execPath, args, {
    ...{ cwd, input: '', encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: cwd, ...env } },
  })
  expect(status, stderr).toBe(0)
  return stderr
}

test('a server without settings is started without Zod, the console, the gateway and the client', () => {
  const files = filesLoadedWith({})
  expect(files).toContain('/server.mjs')
  for (const unused of ['/zod/', '/commander/', '/packages/console/', '/gateway/', '/client/'])
    expect(files).not.toContain(unused)
})

test('settings are validated with Zod', () => {
  expect(filesLoadedWith({ SLUICE_PORT: '4000' })).toContain('/zod/')
})
