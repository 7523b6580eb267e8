/** The whole output of a command reaches the reader of its pipe. */

import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { audit, defineServer, tool } from 'sluice'
import { createServer, makePrivateFolder } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { aFolder, main } from './command.ts'

const records = 1500

/** Writes long audit records, more than a pipe buffers. */
async function writeRecords(cwd: string): Promise<void> {
  const data = join(cwd, '.sluice')
  makePrivateFolder(data)
  const store = sqliteStore(join(data, 'sluice.db'))
  const name = `say_${'x'.repeat(100)}`
  const say = tool({ name, description: 'Says it', input: z.object({}), run: () => 'said' })
  const definition = defineServer({ name: 'x', version: '1', tools: [say] })
  const server = createServer(definition, { store, use: [audit()] })
  const client = await testClient(server)
  for (let n = 0; n < records; n++) await client.call(name, {})
  await server.close()
  await store.close()
}

interface Ended {
  readonly out: string
  readonly err: string
  readonly code: number | null
}
async function piped(cwd: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err]: Buffer[][] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => out?.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err?.push(chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { out: Buffer.concat(out ?? []).toString(), err: Buffer.concat(err ?? []).toString(), code }
}

test('a command ends after its output is read, or when the reader closes the pipe', async () => {
  const cwd = aFolder()
  await writeRecords(cwd)
  const exported = await piped(cwd, ['audit', 'export', '--tenant', 'default'])
  expect([exported.code, exported.err]).toEqual([0, ''])
  const lines = exported.out.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThanOrEqual(records)
  for (const line of [lines[0], lines.at(-1)]) expect(JSON.parse(line ?? '')).toHaveProperty('hash')

  const found = await piped(cwd, ['audit', 'search', '--tenant', 'default', '--limit', '1000', '--json'])
  expect([found.code, JSON.parse(found.out)]).toEqual([0, expect.any(Array)])

  const script = `set -o pipefail; "$0" "$1" audit export --tenant default | head -n 1 | wc -l; echo "\${PIPESTATUS[0]}"`
  const shell = execFileSync('bash', ['-c', script, process.execPath, main], { cwd, encoding: 'utf8', stdio: 'pipe' })
  expect(shell.split('\n').map((line) => line.trim())).toEqual(['1', '141', ''])
})

test('help and a schema are printed completely too', async () => {
  const cwd = aFolder()
  expect(JSON.parse((await piped(cwd, ['config', 'schema'])).out)).toHaveProperty('properties')
  expect((await piped(cwd, ['--help'])).out).toContain('Exit codes')
})
