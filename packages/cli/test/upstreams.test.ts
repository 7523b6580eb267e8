/** Servers of others in the configuration: served by `start` and `serve`, and operated by `upstreams` and `doctor`. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, textOf } from '../../../test/kit/clients/binary.client.ts'
import { programIn } from '../../../test/kit/processes/npm-packages.ts'
import { aFolder, main, sluice, startAll } from './command.ts'

const slowTest = { timeout: 180_000 }

/** Writes a configuration with servers of others, one of which does not start. */
function aConfiguration(): string {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'letter.txt'), 'Dear Ada')
  const program = (name: string): string => programIn('referee-servers', name)
  const servers = {
    routes: {},
    files: {
      command: program('mcp-server-filesystem'),
      args: [cwd],
      rules: [
        { tools: 'move_file', allow: false },
        { tools: ['write_*', 'edit_*'], approval: 'always' },
      ],
    },
    graph: {
      command: program('mcp-server-memory'),
      env: { MEMORY_FILE_PATH: join(cwd, 'graph.jsonl') },
      scope: 'shared',
    },
    broken: { command: process.execPath, args: ['-e', "console.error('no key'); process.exit(3)"] },
    off: { command: 'no-such-program', enabled: false },
  }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers }))
  return cwd
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

test('start serves each with its own names, all under /mcp, and the others while one is broken', slowTest, async () => {
  const cwd = aConfiguration()
  const { servers, keys, url, stop } = await startAll(cwd)
  expect(servers.map(({ name }) => name)).toEqual(['routes', 'files', 'graph', 'broken', 'all'])
  expect(servers.find(({ name }) => name === 'broken')?.state).toContain('exit code 3')
  expect(servers.filter(({ state }) => state === 'ready')).toHaveLength(4)

  const files = await connectTo(url('files'), keys['you'])
  expect(await namesOf(files)).toContain('read_text_file')
  expect(await namesOf(files)).not.toContain('move_file')
  expect(await textOf(files, 'write_file', { path: join(cwd, 'x'), content: 'x' })).toContain('approval_required')

  expect(new URL(url('all')).pathname).toBe('/mcp')
  const all = await connectTo(url('all'), keys['you'])
  const names = await namesOf(all)
  expect(names).toContain('files_read_text_file')
  expect(names).toContain('graph_read_graph')
  expect(names).not.toContain('files_move_file')
  expect(await textOf(all, 'files_read_text_file', { path: join(cwd, 'letter.txt') })).toBe('Dear Ada')
  // The rules hold on both endpoints.
  const gated = await textOf(all, 'files_write_file', { path: join(cwd, 'x'), content: 'x' })
  expect(gated).toContain('approval_required')

  // The pages of the port are those of all servers, although one endpoint has the bare path.
  const { origin } = new URL(url('all'))
  expect(await (await fetch(`${origin}/healthz`)).text()).toContain('alive')
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  for (const name of ['routes', 'files', 'all']) expect(metrics).toContain(`server="${name}"`)
  expect(await stop()).toBe(0)
})

test('upstreams lists, restarts and shows what a process wrote', slowTest, async () => {
  const cwd = aConfiguration()
  expect(await sluice(cwd, ['upstreams', 'list'])).toMatchObject({ code: 1, err: expect.stringContaining('No Sluice') })
  const { keys, url } = await startAll(cwd)
  const client = await connectTo(url('graph'), keys['you'])
  await textOf(client, 'read_graph')
  const pidOf = async (): Promise<number | undefined> => {
    const { out } = await sluice(cwd, ['upstreams', 'list', '--json'])
    const [{ upstreams }] = JSON.parse(out) as [{ upstreams: { name: string; connections: { pid?: number }[] }[] }]
    return upstreams.find(({ name }) => name === 'graph')?.connections[0]?.pid
  }
  const before = await pidOf()
  expect(before).toBeGreaterThan(0)
  expect(await sluice(cwd, ['upstreams', 'restart', 'graph'])).toMatchObject({ code: 0 })
  expect(() => process.kill(before ?? 0, 0)).toThrow('ESRCH')
  expect(await textOf(client, 'read_graph')).toContain('entities')
  expect(await pidOf()).not.toBe(before)

  const listed = await sluice(cwd, ['upstreams', 'list'])
  expect(listed.out).toMatch(/graph +ready +9 /)
  expect(listed.out).toMatch(/broken .*exit code 3/)
  expect((await sluice(cwd, ['upstreams', 'logs', 'broken'])).out).toContain('no key')
  const failed = await sluice(cwd, ['upstreams', 'restart', 'broken'])
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('sluice upstreams logs broken') })
  const unknown = await sluice(cwd, ['upstreams', 'logs', 'grahp'])
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "graph"?') })
})

test('serve runs one of them on stdio', slowTest, async () => {
  const cwd = aConfiguration()
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  const args = [main, 'serve', 'files', '--stdio']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, stderr: 'ignore' }))
  onTestFinished(() => client.close())
  expect(await namesOf(client)).not.toContain('move_file')
  expect(await textOf(client, 'read_text_file', { path: join(cwd, 'letter.txt') })).toBe('Dear Ada')
})

test('doctor starts each of them, and says which one is broken', slowTest, async () => {
  const cwd = aConfiguration()
  const { out, code } = await sluice(cwd, ['doctor'], { SLUICE_PORT: '0', SLUICE_CONSOLE__PORT: '0' })
  expect(code).toBe(3)
  expect(out).toContain('✓ Upstream files: 2025-11-25, 14 tools')
  expect(out).toContain('✓ Upstream graph: 2025-11-25, 9 tools')
  expect(out).toContain('✗ Upstream broken: broken ended with exit code 3. It wrote: no key')
  expect(out).not.toContain('Upstream off')
})

test.each([
  [{ files: { command: 'x', url: 'https://example.com/mcp' } }, 'at most one of'],
  [{ all: { command: 'x' } }, 'The name "all" is taken'],
  [{ 'my.files': { command: 'x' } }, 'lower-case letters, digits and "-"'],
  [{ far: { url: 'https://example.com/mcp', headers: { authorization: 'Bearer abc' } } }, 'contains a credential'],
  [{ far: { url: 'https://example.com/mcp', headers: { a: `\${env:NO_SUCH}` } } }, 'needs the variable NO_SUCH'],
  [{ files: { command: 'x', env: { A: `\${file:/no/such/file}` } } }, 'needs the file /no/such/file'],
])('a configuration that cannot work is refused: %j', slowTest, async (servers, message) => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers, port: 0, console: null }))
  const { code, err } = await sluice(cwd, ['start'])
  expect(err).toContain(message)
  expect(code).toBe(2)
})
