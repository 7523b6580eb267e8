/** What a person sees at a terminal of 80 columns. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { run } from '../src/program.ts'
import { aFolder } from './command.ts'

const columns = 80

/** Runs a command at a terminal, and returns its lines without colours. */
async function linesAt(cwd: string, ...args: readonly string[]): Promise<readonly string[]> {
  let out = ''
  const stop = new AbortController()
  const terminal = {
    isTty: true,
    columns,
    out: (text: string) => {
      out += `${text}\n`
      if (text.includes('Press Ctrl-C to stop')) stop.abort()
    },
    err() {},
    drained: async () => {},
  }
  const env = { SLUICE_DATA: join(cwd, '.sluice') }
  const code = await run(args, { terminal, env, cwd, signal: stop.signal })
  expect(code).toBe(0)
  return stripVTControlCharacters(out.trimEnd()).split('\n')
}

test('keys list shows the last use, the expiry and the state of each key', async () => {
  const cwd = aFolder()
  const tenants = ['--tenant', 'acme', '--tenant', 'umbrella', '--tenant', 'initech']
  await linesAt(cwd, 'keys', 'create', 'nightly-import-of-notes', '--days', '90', ...tenants)
  await linesAt(cwd, 'keys', 'create', 'ci')
  const [head = '', ...rows] = await linesAt(cwd, 'keys', 'list')
  expect(head).toMatch(/^ID +SUBJECT +LAST USE +EXPIRES +STATE/)
  const row = (name: string): string => rows.find((each) => each.includes(name)) ?? ''
  expect(row('nightly')).toMatch(/nightly-import-of-notes +never +\d{4}-\d\d-\d\d +valid/)
  expect(row('ci')).toMatch(/ci +never +never +valid/)
  for (const line of [head, ...rows]) expect(line.length).toBeLessThanOrEqual(columns)
})

test('config print fits, with the origin of each value, and no value is cut', async () => {
  const cwd = aFolder()
  const args = ['-y', '@modelcontextprotocol/server-filesystem', `/home/ann/${'notes/'.repeat(20)}`]
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers: { files: { command: 'npx', args } } }))
  const lines = await linesAt(cwd, 'config', 'print')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
  expect(lines[0]).toMatch(/^SETTING +FROM +VALUE$/)
  expect(lines.find((line) => line.startsWith('port'))).toMatch(/^port +default +3000$/)
  expect(lines.find((line) => line.startsWith('servers.files.command'))).toMatch(/ sluice\.config\.json +npx$/)
  const first = lines.findIndex((line) => line.startsWith('servers.files.args'))
  const at = (lines[first] ?? '').indexOf('[')
  const next = lines.findIndex((line, index) => index > first && !line.startsWith(' '))
  const value = lines
    .slice(first, next)
    .map((line) => line.slice(at))
    .join('')
  expect(JSON.parse(value)).toEqual(args)
})

test('audit search finds the records of all tenants, newest first', async () => {
  const cwd = aFolder()
  await linesAt(cwd, 'people', 'add', 'olga', '--tenant', 'acme')
  await linesAt(cwd, 'people', 'add', 'bob', '--tenant', 'umbrella')
  const [head = '', ...rows] = await linesAt(cwd, 'audit', 'search', 'person added')
  expect(head).toMatch(/^TIME +EVENT +CALLER +TARGET +OUTCOME +TENANT/)
  expect(rows).toEqual([expect.stringContaining(' umbrella '), expect.stringContaining(' acme ')])
})

test('start names the place of each client in full', async () => {
  const cwd = aFolder()
  const config = { servers: { knowledge: {} }, console: null, drain: { noticeMs: 1 } }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config))
  const lines = await linesAt(cwd, 'start', '--port', '0')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
  const words = lines.join(' ').replaceAll(/ +/g, ' ')
  expect(words).toContain('vscode-mcp.json "MCP: Open User Configuration" in the Command Palette')
  expect(words).toContain('claude-code.sh a terminal (a script for sh)')
})
