import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text as consume } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Command } from 'commander'
import { requireNode } from 'sluice/main'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { splitWords } from '../src/client/open.ts'
import { readArguments } from '../src/commands/arguments.ts'
import { checkNode } from '../src/doctor/machine.ts'
import { type Terminal, table, wrapText } from '../src/output.ts'
import { createProgram, run } from '../src/program.ts'
import { aFolder, main, serveHttp, sluice } from './command.ts'

const aTerminal = (): Terminal => ({
  isTty: false,
  columns: 100,
  out: () => {},
  err: () => {},
  drained: async () => {},
})

/** `['approvals', 'list']` for each command, groups included. */
const pathsOf = (command: Command, path: readonly string[] = []): readonly (readonly string[])[] =>
  command.commands.flatMap((each) => [[...path, each.name()], ...pathsOf(each, [...path, each.name()])])

/** The lines that a terminal of 80 columns would break inside a word. Examples are for copying, so they stay whole. */
const tooLong = (help: string): readonly string[] =>
  help.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '))

describe('help and errors', () => {
  test('every command has help of 80 columns with an example, and the first page lists the exit codes', async () => {
    const cwd = aFolder()
    const { out, code } = await sluice(cwd, ['--help'])
    expect(code).toBe(0)
    expect(out).toContain('Exit codes')
    expect(tooLong(out)).toEqual([])
    const context = { terminal: aTerminal(), env: {}, cwd, signal: new AbortController().signal }
    const paths = pathsOf(createProgram(context, () => {}))
    expect(paths.length).toBeGreaterThan(20)
    for (const path of paths) {
      const help = await sluice(cwd, [...path, '--help'])
      expect(help).toMatchObject({ code: 0, out: expect.stringContaining(`Examples:\n  $ `) })
      expect(tooLong(help.out)).toEqual([])
      if (path.length === 1) expect(out).toContain(path[0])
    }
  })
  test('an unknown flag points to the help of its command', async () => {
    const { err, code } = await sluice(aFolder(), ['approvals', 'list', '--statsu', 'pending'])
    expect(err).toContain('Did you mean --status?')
    expect(err).toContain('sluice approvals list --help')
    expect(code).toBe(2)
  })
  test('on a narrow terminal no line is too long, and columns that do not fit are left out', () => {
    const rows = [['bea2edbc-c09e-45f3-9369-484a901395e2', 'pending', 'memory/clear_all', 'ann@acme', '{"a":1}']]
    const narrow = { ...aTerminal(), isTty: true, columns: 80 }
    const lines = table(narrow, ['ID', 'STATUS', 'TOOL', 'WHO', 'ARGUMENTS'], rows).split('\n')
    expect(lines[1]).toBe('bea2edbc-c09e-45f3-9369-484a901395e2  pending  memory/clear_all  ann@acme')
    expect(table(narrow, ['A', 'B'], [['x', 'y'.repeat(100)]]).split('\n')[1]).toBe(`x  ${'y'.repeat(76)}…`)
    expect(wrapText({ ...narrow, columns: 30 }, 'Port 4301 is in use. Choose another with --port', 2)).toBe(
      'Port 4301 is in use. Choose\n  another with --port',
    )
  })
  test('a mistyped command gets a suggestion and the exit code for usage', async () => {
    const { err, code } = await sluice(aFolder(), ['strat'])
    expect(err).toContain('Did you mean start?')
    expect(code).toBe(2)
  })
  test('a port in use is named, with what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => {
      taken.close()
    })
    const { port } = taken.address() as { port: number }
    const { err, code } = await sluice(aFolder(), ['start', '--port', String(port), '--console-port', '0'])
    expect(err).toContain(`Port ${port} is in use. Choose another with --port`)
    expect(code).toBe(1)
  })
  test('a folder that cannot be created is reported', async () => {
    const cwd = aFolder()
    writeFileSync(join(cwd, 'file'), '')
    const { err, code } = await sluice(cwd, ['start', '--data', 'file/below'])
    expect(err).toContain('Choose another folder with --data')
    expect(code).toBe(1)
  })
  test.each([
    ['start', '--port', 'abc'],
    ['serve', 'memory', '--http', '--console-port', '-1'],
    ['audit', 'search', '--tenant', 'acme', '--limit', 'many'],
  ])('%s %s %s …: an invalid number is named', async (...args) => {
    const { err, code } = await sluice(aFolder(), args)
    expect(err).toMatch(/^--\S+ must be a number, not "\S+"\n$/)
    expect(code).toBe(2)
  })
  test('an unknown server gets a suggestion', async () => {
    const { err, code } = await sluice(aFolder(), ['serve', 'memry', '--stdio'])
    expect(err).toContain('did you mean "memory"?')
    expect(code).toBe(2)
  })
  test('an old Node gets the required version', () => {
    expect(checkNode('20.20.2')).toMatchObject({ state: 'bad', fix: expect.stringContaining('22.13') })
    expect(checkNode('22.13.0')).toMatchObject({ state: 'good' })
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    requireNode('sluice-memory', '22.13.0')
    expect(exit).not.toHaveBeenCalled()
    requireNode('sluice-memory', '20.20.2')
    expect(exit).toHaveBeenCalledWith(1)
    expect(write.mock.calls.join('')).toContain('sluice-memory needs Node 22.13 or newer')
  })
  test('a start that fails prints only the cause', async () => {
    const cwd = aFolder()
    const { err, code } = await sluice(cwd, ['start'], { SLUICE_STORE: '{"redis":"redis://127.0.0.1:1"}' })
    expect(err).toMatch(/^Processes that share Redis must share a secret.*\n$/)
    expect(code).toBe(1)
    const full = await sluice(cwd, ['start'], { SLUICE_LOG__FILE: cwd })
    expect(full.err).toBe(`${cwd} cannot be written (EISDIR). Choose another file with "log.file".\n`)
  })
})

test.each(['call', 'doctor', 'bench'])('%s ends on Ctrl-C although the server sends nothing', async (name) => {
  const connected = Promise.withResolvers<void>()
  const silent = createServer((socket) => {
    socket.on('error', () => {})
    connected.resolve()
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.close()
  })
  const { port } = silent.address() as { port: number }
  const stopping = new AbortController()
  const context = { terminal: aTerminal(), env: {}, cwd: aFolder(), signal: stopping.signal }
  const ended = run([name, `http://127.0.0.1:${port}/mcp`], context)
  await connected.promise
  stopping.abort()
  expect(await ended).toBe(130)
})

describe('keys', () => {
  test('a key is created, listed without its secret, and revoked', async () => {
    const cwd = aFolder()
    const made = await sluice(cwd, ['keys', 'create', 'nightly', '--tenant', 'acme', '--days', '90', '--json'])
    const { secret, id } = JSON.parse(made.out) as { secret: string; id: string }
    const listed = await sluice(cwd, ['keys', 'list'])
    expect(listed.out).toMatch(new RegExp(`${id} +nightly +never +\\d{4}-\\d\\d-\\d\\d +valid +acme`))
    expect(listed.out).not.toContain(secret)
    expect((await sluice(cwd, ['keys', 'revoke', id])).code).toBe(0)
    expect((await sluice(cwd, ['keys', 'list', '--json'])).out).toContain('"revoked"')
    expect((await sluice(cwd, ['keys', 'revoke', 'nope'])).err).toContain('Key nope does not exist')
  })
})

const tool = (text: string): string => `
import { defineServer, tool } from 'sluice'
import * as z from 'zod'
import { suffix } from './suffix.ts'
export default defineServer({
  name: 'mine',
  version: '1.0.0',
  tools: [tool({ name: '${text}', description: 'Says it', input: z.object({ times: z.int().default(1) }), run: ({ times }) => '${text}'.repeat(times) + suffix })],
})`

describe('a module', () => {
  /** Inside the repository, so that it finds the library as a user's project does. */
  function aProject(): string {
    const cwd = join(import.meta.dirname, '../../../out', `try-${process.pid}-${Math.random().toString(36).slice(2)}`)
    mkdirSync(cwd, { recursive: true })
    writeFileSync(join(cwd, 'server.ts'), tool('hello'))
    writeFileSync(join(cwd, 'suffix.ts'), 'export const suffix: string = "!"')
    onTestFinished(async () => (await import('node:fs')).rmSync(cwd, { recursive: true, force: true }))
    return cwd
  }
  test('is called over stdio, with arguments parsed by its schema', async () => {
    const cwd = aProject()
    const command = `${process.execPath} ${main} serve ${join(cwd, 'server.ts')} --stdio --data ${join(cwd, 'data')}`
    const listed = await sluice(cwd, ['call', command])
    expect(listed.out).toMatch(/hello times\?\n +Says it/)
    const called = await sluice(cwd, ['call', command, 'hello', 'times=2'])
    expect(called).toMatchObject({ out: 'hellohello!\n', code: 0 })
    expect((await sluice(cwd, ['call', command, 'helo'])).err).toContain('did you mean "hello"?')
  })
  test('answers over stdio with U+2028 and U+2029, which are not line breaks', async () => {
    const cwd = aProject()
    writeFileSync(join(cwd, 'suffix.ts'), `export const suffix: string = ${JSON.stringify('\u2028two\u2029three')}`)
    const command = `${process.execPath} ${main} serve ${join(cwd, 'server.ts')} --stdio --data ${join(cwd, 'data')}`
    expect(await sluice(cwd, ['call', command, 'hello'])).toMatchObject({ out: 'hello\u2028two\u2029three\n', code: 0 })
  })
  test('is reloaded while clients stay connected and are notified; an error keeps the running version', async () => {
    const cwd = aProject()
    const { url, stderr } = await serveHttp(cwd, ['./server.ts', '--watch'])
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    onTestFinished(() => client.close())
    writeFileSync(join(cwd, 'server.ts'), 'export default {')
    await expect.poll(stderr, { timeout: 30_000 }).toContain('Not reloaded')
    expect(await client.callTool({ name: 'hello', arguments: {} })).toMatchObject({ content: [{ text: 'hello!' }] })
    // Its imports are loaded again too.
    writeFileSync(join(cwd, 'suffix.ts'), 'export const suffix: string = "?"')
    writeFileSync(join(cwd, 'server.ts'), tool('goodbye'))
    await changed
    expect(await client.callTool({ name: 'goodbye', arguments: {} })).toMatchObject({ content: [{ text: 'goodbye?' }] })
  })
  test('writes only protocol messages to stdout, even if it prints while it loads or runs', async () => {
    const cwd = aProject()
    writeFileSync(join(cwd, 'server.ts'), `console.log('loaded'); process.stdout.write('raw\\n')\n${tool('hello')}`)
    const args = [main, 'serve', './server.ts', '--stdio', '--data', join(cwd, 'data')]
    const { spawnSync } = await import('node:child_process')
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, input: ping, encoding: 'utf8' })
    expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(stderr).toMatch(/loaded\nraw\n/)
  })
  test('stops on SIGTERM without losing the running call', async () => {
    const cwd = aProject()
    const slow = `import { writeFileSync } from 'node:fs'
import { defineServer, tool } from 'sluice'
import * as z from 'zod'
const signalled = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()))
export default defineServer({ name: 'x', version: '1', tools: [tool({
  name: 'slow', description: 'd', input: z.object({}),
  async run() {
    writeFileSync('started', '')
    await signalled
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return 'done'
  },
})] })`
    writeFileSync(join(cwd, 'server.ts'), slow)
    const args = [main, 'serve', './server.ts', '--stdio', '--data', join(cwd, 'data')]
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] })
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{}}}\n')
    await expect.poll(() => existsSync(join(cwd, 'started'))).toBe(true)
    child.kill('SIGTERM')
    const out = await consume(child.stdout)
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
  })
  test('that exports no server is refused with what to export', async () => {
    const cwd = aFolder()
    writeFileSync(join(cwd, 'x.js'), 'export const a = 1')
    expect((await sluice(cwd, ['serve', './x.js', '--stdio'])).err).toContain('exports no server')
  })
})

test('arguments follow the schema', () => {
  const schema = {
    properties: {
      n: { type: 'integer' },
      b: { type: 'boolean' },
      s: { type: 'string' },
      l: { type: 'array' },
      o: { type: 'object' },
    },
  }
  expect(readArguments(['n=2', 'b=true', 's=3', 'l=a,b', 'o={"x":1}', 'raw:=[1]'], schema)).toEqual({
    n: 2,
    b: true,
    s: '3',
    l: ['a', 'b'],
    o: { x: 1 },
    raw: [1],
  })
  expect(() => readArguments(['nothing'], schema)).toThrow('key=value')
  expect(splitWords('npx -y "a b" \'c d\' e')).toEqual(['npx', '-y', 'a b', 'c d', 'e'])
})

test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command', async (shell) => {
  const { out, code } = await sluice(aFolder(), ['completion', shell])
  expect(code).toBe(0)
  for (const word of ['start', 'approvals', 'memory', 'console-port']) expect(out).toContain(word)
})

test.each([
  ['sluice approvals a', 'approve'],
  ['sluice start --port 4000 --da', '--data'],
  ['sluice approvals approve 7fc4eb07 --no', '--note'],
  ['sluice serve mem', 'memory'],
  ['sluice completion f', 'fish'],
  ['sluice keys revoke --hel', '--help'],
])('bash completes %s', async (line, expected) => {
  const { out } = await sluice(aFolder(), ['completion', 'bash'])
  const { execFileSync } = await import('node:child_process')
  const words = line.split(' ')
  const script = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sluice; echo "\${COMPREPLY[@]}"`
  expect(execFileSync('bash', ['-c', `${out}\n${script}`], { encoding: 'utf8' }).trim()).toBe(expected)
})
