/** The code that `compile-cache.ts` keeps for the next start. */

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

const program = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))
let cache = ''

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'sluice-cache-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
})

/** Runs the command with a folder for caches, and returns its output. */
function runWith(folder: string, env: Record<string, string> = {}): string {
  // Vitest sets the last one while it measures coverage.
  const { NODE_V8_COVERAGE: _, NODE_COMPILE_CACHE: __, NODE_DISABLE_COMPILE_CACHE: ___, ...rest } = process.env
  const result = spawnSync(process.execPath, [program, '--version'], {
    ...{ encoding: 'utf8', env: { ...rest, XDG_CACHE_HOME: folder, ...env } },
  })
  return result.stdout + result.stderr
}

test('the command keeps its compiled code in a folder that only this account may use', () => {
  expect(runWith(cache)).toMatch(/^\d/)
  expect(readdirSync(join(cache, 'sluice'))).toHaveLength(1)
  expect(runWith(cache)).toMatch(/^\d/)
})

test('no code is kept in a folder that other accounts can write', () => {
  mkdirSync(join(cache, 'sluice'))
  chmodSync(join(cache, 'sluice'), 0o777)
  expect(runWith(cache)).toMatch(/^\d/)
  expect(readdirSync(join(cache, 'sluice'))).toEqual([])
})

test('the command starts where no folder can be made', () => {
  writeFileSync(join(cache, 'file'), '')
  expect(runWith(join(cache, 'file'))).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('NODE_DISABLE_COMPILE_CACHE turns it off', () => {
  runWith(cache, { NODE_DISABLE_COMPILE_CACHE: '1' })
  expect(readdirSync(join(cache, 'sluice'))).toEqual([])
})
