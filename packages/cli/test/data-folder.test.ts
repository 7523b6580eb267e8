/** The data folder: the same owner through every transport, private to the account, and intact after a killed start. */

import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, overStdio, programOf, textOf } from '../../../test/kit/clients/binary.client.ts'
import { aFolder, main, sluice, startAll } from './command.ts'

const slowTest = { timeout: 240_000 }

/** Configures one server, so that a start is quick. */
function onlyServer(cwd: string, name: string): void {
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers: { [name]: {} } }))
}

test(
  'a memory of the owner over HTTP is found over stdio, by the server’s binary and in an export',
  slowTest,
  async () => {
    const cwd = aFolder()
    const data = join(cwd, '.sluice')
    const { url, keys } = await startAll(cwd)
    const memory = await connectTo(url('memory'), keys['you'] ?? '')
    await memory.callTool({ name: 'add_memory', arguments: { text: 'the purple elephant sleeps' } })
    const search = { query: 'purple elephant' }

    const entries = JSON.parse(readFileSync(join(data, 'clients/claude_desktop_config.json'), 'utf8')) as {
      mcpServers: { [name: string]: { command: string; args: string[] } }
    }
    const desktop = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => desktop.close())
    const { command = '', args = [] } = entries.mcpServers['sluice-memory'] ?? {}
    await desktop.connect(new StdioClientTransport({ command, args, cwd: '/', stderr: 'ignore' }))
    expect(await textOf(desktop, 'search_memory', search)).toContain('purple elephant')

    const binary = await overStdio('memory', data)
    expect(await textOf(binary, 'search_memory', search)).toContain('purple elephant')

    const run = (server: string, args: readonly string[], input = ''): string =>
      execFileSync(process.execPath, [programOf(server), ...args, '--data', data], { encoding: 'utf8', input })
    expect(run('memory', ['export'])).toContain('purple elephant')
    run('memory', ['import'], '{"type":"memory","text":"a green giraffe"}')
    run('memory', ['import', '--tenant', 'alice'], '{"type":"memory","text":"a grey giraffe"}')
    expect(await textOf(memory, 'search_memory', { query: 'giraffe' })).toMatch(/green giraffe/)
    expect(await textOf(memory, 'search_memory', { query: 'giraffe' })).not.toMatch(/grey/)
    const alice = await connectTo(url('memory'), keys['alice'] ?? '')
    expect(await textOf(alice, 'search_memory', { query: 'giraffe' })).toMatch(/grey giraffe/)

    const gpx = join(cwd, 'run.gpx')
    writeFileSync(
      gpx,
      `<gpx version="1.1" creator="x"><trk><name>Round the lake</name><type>running</type><trkseg>
      <trkpt lat="52.5" lon="13.4"><time>2026-01-01T10:00:00Z</time></trkpt>
      <trkpt lat="52.51" lon="13.4"><time>2026-01-01T10:10:00Z</time></trkpt></trkseg></trk></gpx>`,
    )
    expect(run('fitness', ['import', gpx])).toContain('1 added')
    const fitness = await connectTo(url('fitness'), keys['you'] ?? '')
    expect(await textOf(fitness, 'get_activities', {})).toContain('"distance_km":1.1')
  },
)

const everyPath = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))

test('other accounts cannot read the data folder, even with an open umask', slowTest, async () => {
  const cwd = aFolder()
  const command = `umask 000; exec "${process.execPath}" "${main}" start --port 0 --console-port 0 --json`
  const child = spawn('sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await new Promise<void>((resolve) => child.stdout.on('data', (chunk: Buffer) => chunk.includes('\n}') && resolve()))
  const open = [join(cwd, '.sluice'), ...everyPath(join(cwd, '.sluice'))].filter(
    (path) => (statSync(path).mode & 0o077) !== 0,
  )
  expect(open).toEqual([])
  expect(everyPath(join(cwd, '.sluice')).some((path) => path.endsWith('routes.db'))).toBe(true)
})

test('the folder that knowledge serves is a setting', slowTest, async () => {
  const cwd = aFolder()
  mkdirSync(join(cwd, 'notes'))
  writeFileSync(join(cwd, 'notes/tea.md'), '# Tea')
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers: { knowledge: { folder: 'notes' } } }))
  const { keys, url } = await startAll(cwd)
  const client = await connectTo(url('knowledge'), keys['you'] ?? '')
  expect(await textOf(client, 'list_articles', {})).toBe('- [articles/tea] Tea')
})

test(
  'loose permissions of files are removed and reported; those of the folder are only reported',
  slowTest,
  async () => {
    const cwd = aFolder()
    onlyServer(cwd, 'knowledge')
    const first = await startAll(cwd)
    await first.stop()
    const data = join(cwd, '.sluice')
    chmodSync(data, 0o755)
    for (const name of ['secret', 'keys.json']) chmodSync(join(data, name), 0o644)
    const second = await startAll(cwd)
    expect(second.stderr()).toMatch(/could read .*secret; now they cannot/)
    expect(second.stderr()).toMatch(/could read .*keys\.json; now they cannot/)
    expect(second.stderr()).toContain(`chmod 700 ${data}`)
    expect(['', 'secret', 'keys.json'].map((name) => statSync(join(data, name)).mode & 0o777)).toEqual([
      0o755, 0o600, 0o600,
    ])
    const { out } = await sluice(cwd, ['doctor'])
    expect(out).toContain('is open to other accounts')
  },
)

test.each(['sluice.db', 'secret', 'keys.json', 'servers/memory/memory.db', 'servers/routes/routes.db'])(
  '%s that is a FIFO is refused at once',
  slowTest,
  async (name) => {
    const cwd = aFolder()
    onlyServer(cwd, name.split('/')[1] ?? 'knowledge')
    const path = join(cwd, '.sluice', name)
    mkdirSync(join(path, '..'), { recursive: true })
    execFileSync('mkfifo', [path])
    const { code, err } = await sluice(cwd, ['start', '--port', '0', '--console-port', '0'])
    expect([code, err]).toEqual([1, expect.stringContaining(`${path} is not a regular file`)])
  },
)

test('a folder that cannot be created is refused at once', slowTest, async () => {
  const { code, err } = await sluice(aFolder(), ['start', '--data', '/proc/x', '--port', '0'])
  expect([code, err]).toEqual([1, expect.stringContaining('/proc/x cannot be created')])
})

test.each(['{', '[]', 'null', '{"you":1}'])('keys.json with %s is refused with what to do', slowTest, async (text) => {
  const cwd = aFolder()
  onlyServer(cwd, 'knowledge')
  mkdirSync(join(cwd, '.sluice'), { mode: 0o700 })
  writeFileSync(join(cwd, '.sluice/keys.json'), text, { mode: 0o600 })
  const { code, err } = await sluice(cwd, ['start', '--port', '0', '--console-port', '0'])
  expect([code, err]).toEqual([1, expect.stringMatching(/keys\.json does not hold keys by name\. .* remove it/)])
})

test('a start that is killed at any moment does not break the next one', slowTest, async () => {
  const cwd = aFolder()
  onlyServer(cwd, 'memory')
  const args = [main, 'start', '--port', '0', '--console-port', '0', '--json', '--no-demo']
  /** Measures a whole start on this machine, so that the kills are spread over all of it. */
  const began = performance.now()
  const whole = await startAll(aFolder(), ['--config', join(cwd, 'sluice.config.json')])
  const wholeMs = performance.now() - began
  whole.child.kill('SIGKILL')
  const moments = 16
  for (let moment = 1; moment <= moments; moment++) {
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    setTimeout(() => child.kill('SIGKILL'), (wholeMs * moment) / moments)
    await exited
  }
  const { keys, url, stop } = await startAll(cwd, ['--no-demo'])
  const client = await connectTo(url('memory'), keys['you'] ?? '')
  await client.callTool({ name: 'add_memory', arguments: { text: 'still here' } })
  expect(await textOf(client, 'search_memory', { query: 'still here' })).toContain('still here')
  await stop()
  expect((await startAll(cwd, ['--no-demo'])).keys).toEqual(keys)
})

test('files that a kill left empty are created again', slowTest, async () => {
  const cwd = aFolder()
  onlyServer(cwd, 'memory')
  const data = join(cwd, '.sluice')
  mkdirSync(join(data, 'servers/memory'), { recursive: true, mode: 0o700 })
  for (const name of ['secret', 'keys.json', 'sluice.db', 'servers/memory/memory.db'])
    writeFileSync(join(data, name), '', { mode: 0o600 })
  expect((await startAll(cwd)).keys['you']).toMatch(/^sk_/)
  expect(readFileSync(join(data, 'secret'), 'utf8').trim()).toMatch(/^[0-9a-f]{64}$/)
})

test('no key is on a command line or in a pipe, and no demo key exists with a configuration', slowTest, async () => {
  const cwd = aFolder()
  onlyServer(cwd, 'memory')
  const child = spawn(process.execPath, [main, 'start', '--port', '0', '--console-port', '0'], { cwd })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    if (printed.includes('Ctrl-C')) break
  }
  const keys = JSON.parse(readFileSync(join(cwd, '.sluice/keys.json'), 'utf8')) as { [name: string]: string }
  expect(Object.keys(keys)).toEqual(['you'])
  expect(printed).toContain('.sluice/keys.json')
  expect(printed).not.toContain(keys['you'])
  const script = readFileSync(join(cwd, '.sluice/clients/claude-code.sh'), 'utf8')
  expect(script).toContain('claude mcp add --scope user sluice-memory -- ')
  expect(script).not.toContain(keys['you'])
})

const sharing = { SLUICE_STORE: '{"redis":"redis://127.0.0.1:1"}', SLUICE_SECRET: 'a'.repeat(32) }

test.each([
  ['memory', 'set SLUICE_MEMORY_POSTGRES'],
  ['fitness', 'set FITNESS_POSTGRES'],
  ['routes', 'leave it out'],
])('Redis with local files of %s is refused, with what to set', slowTest, async (name, advice) => {
  const cwd = aFolder()
  onlyServer(cwd, name)
  for (const command of [
    ['start', '--console-port', '0'],
    ['serve', name, '--http'],
  ]) {
    const { code, err } = await sluice(cwd, [...command, '--port', '0'], sharing)
    expect([code, err]).toEqual([2, expect.stringContaining(`${name}: ${advice}`)])
    expect(err).toContain('set "sharedData" to true')
  }
})
