/** What is published is complete: packed, installed into an empty folder, and used from there with the official client. */

import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const bin = join(root, 'node_modules/.bin')
const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

interface Packed {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}
const folders = globSync(['packages/*/package.json', 'servers/*/package.json'], { cwd: root })
  .filter((file) => !(JSON.parse(readFileSync(join(root, file), 'utf8')) as { private?: boolean }).private)
  .map((file) => join(root, file, '..'))

let work = ''
let packed: readonly Packed[] = []
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
  packed = folders.flatMap(
    (folder) => JSON.parse(npm(folder, 'pack', '--ignore-scripts', '--json', '--pack-destination', work)) as Packed[],
  )
  const dependencies = Object.fromEntries(packed.map(({ name, filename }) => [name, `file:${filename}`]))
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  npm(work, 'install', '--no-audit', '--no-fund', '--prefer-offline')
}, 300_000)
afterAll(() => rmSync(work, { recursive: true, force: true }))

test('every package has its types and its licence’s name, and neither tests nor build records', () => {
  expect(packed.length).toBe(8)
  for (const { name, files, size } of packed) {
    const paths = files.map(({ path }) => path)
    expect(
      paths.filter((path) => /^(src|dist|lib)\/.*\.test\.|tsbuildinfo/.test(path)),
      name,
    ).toEqual([])
    if (name !== 'create-sluice')
      expect(
        paths.some((path) => path.endsWith('index.d.ts')),
        name,
      ).toBe(true)
    expect(size, name).toBeLessThan(2_000_000)
  }
})

test('the command runs from there, and a server it brings answers the official client over stdio', {
  timeout: 120_000,
}, async () => {
  const sluice = join(work, 'node_modules/.bin/sluice')
  expect(execFileSync(sluice, ['--version'], { env, encoding: 'utf8' }).trim()).toBe('0.1.0')
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  const args = ['serve', 'routes', '--stdio', '--data', join(work, 'data')]
  await client.connect(new StdioClientTransport({ command: sluice, args, env: { PATH: env.PATH }, stderr: 'ignore' }))
  onTestFinished(() => client.close())
  const route = await client.callTool({ name: 'calculate_route', arguments: { origin: 'Hanoi', destination: 'Hue' } })
  expect(route).toMatchObject({ isError: false })
})

test('each server’s own binary says what it is', () => {
  for (const name of ['knowledge', 'memory', 'fitness', 'lisp', 'routes'])
    expect(
      execFileSync(join(work, `node_modules/.bin/sluice-${name}`), ['--version'], { env, encoding: 'utf8' }).trim(),
    ).toBe('0.1.0')
})
