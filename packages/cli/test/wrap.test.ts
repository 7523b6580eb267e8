/** `sluice wrap` in front of servers of others, as clients see it: over HTTP with a key, and over stdio. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { memoryStore } from 'sluice'
import { createServer } from 'sluice/node'
import { log, park } from 'sluice/plugins'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, textOf } from '../../../test/kit/clients/binary.client.ts'
import { programIn } from '../../../test/kit/processes/npm-packages.ts'
import { nameFor } from '../src/commands/wrap-name.ts'
import { loadConfig } from '../src/config/load.ts'
import { silentLogger } from '../src/host/logger.ts'
import { openUpstreams, problemOf } from '../src/host/upstreams.ts'
import { aFolder, listenWith, main, serveHttp, sluice } from './command.ts'

const slowTest = { timeout: 180_000 }
const filesystem = (): string => programIn('referee-servers', 'mcp-server-filesystem')
const onFreePorts = ['--http', '--port', '0', '--console-port', '0']

const keyIn = (cwd: string): string =>
  (JSON.parse(readFileSync(join(cwd, '.sluice/keys.json'), 'utf8')) as { readonly you: string }).you

/** Waits until the last line was printed, because the key is made after the address is known. */
const ready = (stderr: () => string): Promise<void> =>
  expect
    .poll(stderr, { timeout: 60_000 })
    .toContain('Console (')
    .then(() => {})

test('a wrapped command needs a key, asks before chosen calls and records them', slowTest, async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'letter.txt'), 'Dear Ada')
  const mistyped = ['--approve', 'wirte_*']
  const wrapped = ['--approve', 'write_*', ...mistyped, '--deny', 'move_*', '--', filesystem(), cwd]
  const { url, stderr, child } = await listenWith(cwd, ['wrap', ...onFreePorts, ...wrapped])
  await ready(stderr)
  expect(url).toMatch(/\/filesystem\/mcp$/)
  expect(stderr()).toContain('approvals  write_*, wirte_*: decide in the console, or: sluice approvals list')
  expect(stderr().match(/^ +warning.*$/gm)).toEqual(['  warning    no tool matches wirte_*: check its spelling'])
  const stranger = await connectTo(url)
  await expect(stranger.listTools()).rejects.toThrow('Authentication required')

  const client = await connectTo(url, keyIn(cwd))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('write_file')
  expect(tools.map(({ name }) => name)).not.toContain('move_file')
  expect(await textOf(client, 'read_text_file', { path: join(cwd, 'letter.txt') })).toBe('Dear Ada')

  const letter = { path: join(cwd, 'answer.txt'), content: 'Dear Charles' }
  const { request_id: ticket } = JSON.parse(await textOf(client, 'write_file', letter)) as { request_id: string }
  expect(existsSync(letter.path)).toBe(false)
  const shown = await sluice(cwd, ['approvals', 'show', ticket])
  expect(shown.out).toContain('Upstream: "filesystem"')
  expect(await sluice(cwd, ['approvals', 'approve', ticket])).toMatchObject({ code: 0 })
  expect(await textOf(client, 'write_file', letter)).toContain('Successfully wrote')
  expect(readFileSync(letter.path, 'utf8')).toBe('Dear Charles')
  const audited = await sluice(cwd, ['audit', 'search', '--tenant', 'default'])
  expect(audited.out).toContain('write_file')

  // A stop ends the processes of the server, too.
  const listed = await sluice(cwd, ['upstreams', 'list', '--json'])
  const [{ upstreams }] = JSON.parse(listed.out) as [{ upstreams: [{ connections: { pid: number }[] }] }]
  const pids = upstreams[0].connections.map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(0)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  expect(await exited).toBe(0)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('a wrapped command serves a client that starts it, which cannot approve its own calls', slowTest, async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'letter.txt'), 'Dear Ada')
  const data = join(cwd, '.sluice')
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  const args = [main, 'wrap', '--stdio', '--data', data, '--approve', '*_file', '--', filesystem(), cwd]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: '/', stderr: 'ignore' }))
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools).toHaveLength(14)
  expect(await textOf(client, 'get_file_info', { path: join(cwd, 'letter.txt') })).toContain('size: 8')
  const letter = { path: join(cwd, 'answer.txt'), content: 'Dear Charles' }
  const { request_id: ticket } = JSON.parse(await textOf(client, 'write_file', letter)) as { request_id: string }
  const own = { method: 'approval/respond', params: { request_id: ticket, approved: true } }
  await expect(client.request(own, ResultSchema)).rejects.toThrow('approvals:decide')
  expect(existsSync(letter.path)).toBe(false)
  expect(await sluice(cwd, ['approvals', 'approve', ticket])).toMatchObject({ code: 0 })
  expect(await textOf(client, 'write_file', letter)).toContain('Successfully wrote')
})

test('with --trust-hints, tools that only read need no approval', slowTest, async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'letter.txt'), 'Dear Ada')
  const wrapped = ['--approve', '*', '--trust-hints', '--', filesystem(), cwd]
  const { url, stderr } = await listenWith(cwd, ['wrap', ...onFreePorts, ...wrapped])
  await ready(stderr)
  const client = await connectTo(url, keyIn(cwd))
  expect(await textOf(client, 'read_text_file', { path: join(cwd, 'letter.txt') })).toBe('Dear Ada')
  expect(await textOf(client, 'create_directory', { path: join(cwd, 'x') })).toContain('approval_required')
})

test('a wrapped URL is served with a credential that the environment holds', slowTest, async () => {
  const cwd = aFolder()
  const upstream = await serveHttp(cwd, ['routes', '--data', join(cwd, 'upstream')])
  const header = ['--header', `X-Api-Key: \${env:ROUTES_KEY}`]
  const wrap = ['wrap', upstream.url, ...header, '--name', 'maps', '--deny', 'optimize_*', ...onFreePorts]
  const { url, stderr } = await listenWith(cwd, wrap, { ROUTES_KEY: 'secret' })
  await ready(stderr)
  const namesAt = async (at: string, key?: string): Promise<readonly string[]> =>
    (await (await connectTo(at, key)).listTools()).tools.map(({ name }) => name)
  const direct = await namesAt(upstream.url)
  expect(await namesAt(url, keyIn(cwd))).toEqual(direct.filter((name) => !name.startsWith('optimize_')))
  // Without the variable it does not start, and a credential on the command line is refused.
  const missing = await sluice(cwd, wrap)
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('needs the variable ROUTES_KEY') })
  const written = await sluice(cwd, ['wrap', '--http', upstream.url, '--header', 'Authorization: Bearer abc'])
  expect(written).toMatchObject({ code: 2, err: expect.stringContaining('contains a credential') })
})

test('a command that does not serve ends wrap with the reason and what it wrote', slowTest, async () => {
  const cwd = aFolder()
  const failing = ['--', process.execPath, '-e', "console.error('the vault is locked'); process.exit(4)"]
  const { code, err } = await sluice(cwd, ['wrap', ...onFreePorts, '--name', 'vault', ...failing])
  expect(code).toBe(1)
  expect(err).toContain('exit code 4')
  expect(err).toContain('the vault is locked')
  const missing = await sluice(cwd, ['wrap', ...onFreePorts, '--', './no-such-program'])
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('no-such-program') })
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  expect(processes).not.toContain('the vault is locked')
})

test('a command that does not answer is named with the reason, not with the end that followed', slowTest, async () => {
  const cwd = aFolder()
  const { config } = await loadConfig({ cwd, env: {} })
  const slow = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const upstreams = await openUpstreams({ slow }, config, { env: {}, startMs: 300 })
  const definition = upstreams?.named[0]?.opened.definition
  if (!definition) throw new Error('no definition')
  const server = createServer(definition, { store: memoryStore(), use: [log(silentLogger), park()] })
  onTestFinished(() => server.close())
  await server.ready()
  expect(upstreams.gateway.states().map(problemOf)).toEqual(['slow did not finish its handshake within 300 ms'])
})

test('a command without "--" before it gets the hint', async () => {
  const { code, err } = await sluice(aFolder(), ['wrap', 'npx', '-y', '@modelcontextprotocol/server-filesystem'])
  expect(err).toContain('the command and its options go after --')
  expect(code).toBe(2)
})

test.each([
  [['npx', '-y', '@modelcontextprotocol/server-filesystem', '~/notes'], 'filesystem'],
  [['npx', '-y', '@modelcontextprotocol/server-everything@2026.8.31', 'stdio'], 'everything'],
  [['uvx', 'mcp-server-git'], 'git'],
  [['node', './build/weather.js'], 'weather'],
  [['/usr/local/bin/github-mcp-server', 'stdio'], 'github'],
  [['docker', 'run', '-i', '--rm', 'mcp/sqlite'], 'sqlite'],
  [['https://mcp.example.com/mcp'], 'example'],
  [['http://127.0.0.1:8080/mcp'], 'server'],
])('%j is called %s', (target, name) => {
  expect(nameFor(target)).toBe(name)
})
