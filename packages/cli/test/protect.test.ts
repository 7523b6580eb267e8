/** A protected client at work: real servers, the official client, a browser, Claude Code, Codex and Gemini CLI. */

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../../test/kit/clients/binary.client.ts'
import { startChromium } from '../../../test/kit/processes/chromium.ts'
import { installFolder, programIn } from '../../../test/kit/processes/npm-packages.ts'
import { aFolder, machine, sluiceAt, startAll } from './command.ts'

const slowTest = { timeout: 180_000 }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A home with a configuration on free ports. Sluice, which the first client starts, ends with the test. */
async function aHome(): Promise<string> {
  const home = aFolder()
  const data = join(home, '.sluice')
  mkdirSync(data, { mode: 0o700 })
  const [port, consolePort] = [await freePort(), await freePort()]
  writeFileSync(
    join(data, 'sluice.config.yaml'),
    `data: ${data}\nport: ${port}\nconsole: { port: ${consolePort} }\nservers: {}\nadmission: null\ndrain: { noticeMs: 1 }\n`,
  )
  const pids = (): readonly number[] =>
    existsSync(join(data, 'control')) ? readdirSync(join(data, 'control')).map((name) => Number.parseInt(name, 10)) : []
  onTestFinished(async () => {
    for (const pid of pids()) process.kill(pid, 'SIGTERM')
    await expect.poll(pids, { timeout: 60_000 }).toEqual([])
  })
  return home
}

const entriesFor = (home: string) => ({
  files: { command: programIn('referee-servers', 'mcp-server-filesystem'), args: [join(home, 'notes')] },
  memory: {
    command: programIn('referee-servers', 'mcp-server-memory'),
    args: [],
    env: { MEMORY_FILE_PATH: join(home, 'memory.jsonl') },
  },
})

test('Claude Desktop writes a file once, after a person allowed it in the browser', slowTest, async () => {
  const home = await aHome()
  mkdirSync(join(home, 'notes'))
  const file = join(home, '.config/Claude/claude_desktop_config.json')
  mkdirSync(dirname(file), { recursive: true })
  const text = `${JSON.stringify({ mcpServers: entriesFor(home), globalShortcut: '' }, undefined, 4)}\n`
  writeFileSync(file, text)
  expect(await sluiceAt(home, ['protect', 'claude-desktop', '--trust-hints', '--yes'])).toMatchObject({ code: 0 })

  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as {
    mcpServers: { [name: string]: { command: string; args: string[] } }
  }
  /** Starts what the file says, as the desktop does: from another folder and with few variables. */
  const connected = async (name: string): Promise<Client> => {
    const client = new Client({ name: 'claude-ai', version: '1.0.0' })
    const { command = '', args = [] } = mcpServers[name] ?? {}
    const env = { HOME: home, PATH: process.env['PATH'] ?? '' }
    await client.connect(new StdioClientTransport({ command, args, env, cwd: '/', stderr: 'ignore' }))
    onTestFinished(() => client.close())
    return client
  }
  const [files, memory] = await Promise.all([connected('files'), connected('memory')])
  expect((await files.listTools()).tools).toHaveLength(14)
  // Both servers say which tools only read, and these hints are believed here.
  expect(await textOf(files, 'list_allowed_directories', {})).toContain('notes')
  expect(await textOf(memory, 'read_graph', {})).toContain('entities')
  const letter = { path: join(home, 'notes/letter.txt'), content: 'Dear Ada' }
  expect(await textOf(files, 'write_file', letter)).toContain('approval_required')
  expect(existsSync(letter.path)).toBe(false)
  expect((await sluiceAt(home, ['approvals', 'list'], { cwd: '/' })).out).toMatch(/pending .*write_file/)

  const browser = await startChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto((await sluiceAt(home, ['console', 'link'], { cwd: '/' })).out.trim())
  await page.getByText('write_file').first().click()
  await page.getByRole('button', { name: /^approve/i }).click()
  await expect
    .poll(async () => (await sluiceAt(home, ['approvals', 'list', '--json'])).out, { timeout: 60_000 })
    .toContain('"approved"')
  expect(await textOf(files, 'write_file', letter)).toContain('Successfully wrote')
  expect(readFileSync(letter.path, 'utf8')).toBe('Dear Ada')
  // The approval is spent: the same call needs a new one, and the file is not written again.
  writeFileSync(letter.path, 'changed by hand')
  expect(await textOf(files, 'write_file', letter)).toContain('approval_required')
  expect(readFileSync(letter.path, 'utf8')).toBe('changed by hand')

  // Another client brings a server that the running Sluice does not know.
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor/mcp.json'), '{ "mcpServers": { "new": { "command": "new" } } }')
  expect((await sluiceAt(home, ['protect', 'cursor', '--yes'])).out).toMatch(/stop it with "kill \d+"/)

  expect(await sluiceAt(home, ['unprotect', 'claude-desktop', '--yes'])).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(text)
})

/** The real programs, from `test/kit/npm/clients`. Claude Code puts its binary in place by a script, which is not run. */
const claude = (): string =>
  join(installFolder('clients'), `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)

async function runProgram(home: string, program: string, args: readonly string[], path?: string): Promise<string> {
  const env = {
    ...{ ...machine(home), PATH: [path, process.env['PATH']].filter(Boolean).join(delimiter) },
    ...{ DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    MCP_TIMEOUT: '120000',
  }
  for (const name of ['XDG_CONFIG_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME']) Reflect.deleteProperty(env, name)
  const { stdout, stderr } = await promisify(execFile)(program, [...args], { env, cwd: home, timeout: 120_000 })
  return `${stdout}${stderr}`
}

test('Claude Code connects to its servers through Sluice, and has them back afterwards', slowTest, async () => {
  const home = await aHome()
  mkdirSync(join(home, 'notes'))
  for (const [name, entry] of Object.entries(entriesFor(home)))
    await runProgram(home, claude(), ['mcp', 'add-json', '--scope', 'user', name, JSON.stringify(entry)])
  const file = join(home, '.claude.json')
  const before = JSON.parse(readFileSync(file, 'utf8')) as { readonly mcpServers: object }
  expect(await sluiceAt(home, ['protect', 'claude-code', '--yes'])).toMatchObject({ code: 0 })
  const listed = await runProgram(home, claude(), ['mcp', 'list'])
  for (const name of ['files', 'memory'])
    expect(listed).toMatch(new RegExp(`^${name}: .* connect ${name} .*Connected`, 'm'))
  expect(await sluiceAt(home, ['upstreams', 'list'])).toMatchObject({ code: 0, out: expect.stringContaining('memory') })
  expect(await sluiceAt(home, ['unprotect', 'claude-code', '--yes'])).toMatchObject({ code: 0 })
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as { readonly mcpServers: object }
  expect(mcpServers).toEqual(before.mcpServers)
})

test('the files of sluice start work in Claude Code, Codex and Gemini CLI', slowTest, async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), '{ "servers": { "routes": {} }, "console": null }')
  const { url, keys } = await startAll(cwd)
  const home = aFolder()
  const sample = (name: string): string => readFileSync(join(cwd, '.sluice/clients', name), 'utf8')
  for (const turn of ['first', 'second']) {
    const said = await runProgram(home, 'sh', [join(cwd, '.sluice/clients/claude-code.sh')], dirname(claude()))
    expect(said, turn).toContain('Added stdio MCP server sluice-routes')
  }
  expect(await runProgram(home, claude(), ['mcp', 'list'])).toMatch(/^sluice-routes: .*Connected/m)

  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, '.codex/config.toml'), sample('codex-config.toml'))
  expect(await runProgram(home, programIn('clients', 'codex'), ['mcp', 'list'])).toMatch(/^sluice-routes .*enabled/m)
  mkdirSync(join(home, '.gemini'))
  writeFileSync(join(home, '.gemini/settings.json'), sample('gemini-settings.json'))
  // Gemini CLI gives a server five seconds, which a busy machine may need for itself.
  await expect
    .poll(() => runProgram(home, programIn('clients', 'gemini'), ['mcp', 'list']), { timeout: 60_000 })
    .toMatch(/sluice-routes: .* - Connected/)

  // The key is only in files that people do not commit.
  const withKey = readdirSync(join(cwd, '.sluice/clients')).filter((name) => sample(name).includes(keys['you'] ?? '?'))
  expect(withKey).toEqual(['cursor-mcp.json', 'gemini-settings.json', 'mcp.json', 'windsurf-mcp_config.json'])
  expect(JSON.parse(sample('vscode-mcp.json'))).toMatchObject({
    inputs: [{ id: 'sluice-key', password: true }],
    servers: { 'sluice-routes': { type: 'http', url: url('routes') } },
  })
  expect(JSON.parse(sample('windsurf-mcp_config.json'))).toMatchObject({
    mcpServers: { 'sluice-routes': { serverUrl: url('routes') } },
  })
  expect(JSON.parse(sample('zed-settings.json'))).toMatchObject({ context_servers: { 'sluice-routes': {} } })
  expect(readFileSync(join(cwd, '.sluice/.gitignore'), 'utf8')).toBe('*\n')
})
