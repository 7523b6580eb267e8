/** Creates, checks, tests and runs a project as its README says, on the packed library and the packed creator. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { addressOf } from '../../../test/kit/processes/listening-address.ts'
import { programIn } from '../../../test/kit/processes/npm-packages.ts'
import { freePort, requireProgram } from '../../../test/kit/processes/programs.ts'

const library = fileURLToPath(new URL('../../sluice', import.meta.url))
const creator = fileURLToPath(new URL('..', import.meta.url))
const node = process.execPath
const slowTest = { timeout: 300_000 }
const accepts = 'application/json, text/event-stream'
const work = mkdtempSync(join(tmpdir(), 'sluice-create-'))
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
let tarball = ''
let main = ''

/** Puts the repository's Node first, as in npm's scripts, because an older one may be on the PATH. */
const env = {
  ...process.env,
  PATH: `${fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url))}:${process.env['PATH']}`,
}
const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function pack(folder: string): string {
  const printed = npm(folder, 'pack', '--ignore-scripts', '--json', '--pack-destination', work)
  const [packed] = JSON.parse(printed) as { filename: string }[]
  return join(work, packed?.filename ?? '')
}

const quiet = ['--no-audit', '--no-fund', '--prefer-offline'] as const

beforeAll(() => {
  tarball = pack(library)
  const installed = mkdtempSync(join(work, 'creator-'))
  writeFileSync(join(installed, 'package.json'), '{ "private": true }')
  npm(installed, 'install', ...quiet, pack(creator))
  main = join(installed, 'node_modules/create-sluice/dist/main.js')
}, 120_000)

function createProject(template: string): string {
  const folder = join(work, `my-${template}`)
  execFileSync(node, [main, folder, '--yes', '--template', template, '--sluice', `file:${tarball}`])
  return folder
}
const shouted = async (client: Client): Promise<unknown> =>
  client.callTool({ name: 'shout', arguments: { text: 'hi' } })

const contentOf = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8')

test('Node: check and test pass, and it answers the official client over stdio and HTTP', slowTest, async () => {
  const folder = createProject('node')
  npm(folder, 'install', ...quiet)
  npm(folder, 'run', 'check')
  expect(npm(folder, 'test')).toContain('pass 2')
  const overStdio = new Client({ name: 'a-client', version: '1.0.0' })
  await overStdio.connect(
    new StdioClientTransport({
      command: node,
      args: [join(folder, 'main.ts'), '--stdio'],
      cwd: folder,
      stderr: 'ignore',
    }),
  )
  onTestFinished(() => overStdio.close())
  expect(await shouted(overStdio)).toMatchObject({ content: [{ text: 'HI' }] })

  const child = spawn(node, ['main.ts'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const { url } = await addressOf(child)
  expect(new URL(url).pathname).toBe('/my-node/mcp')
  const overHttp = new Client({ name: 'a-client', version: '1.0.0' })
  await overHttp.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => overHttp.close())
  expect(await shouted(overHttp)).toMatchObject({ content: [{ text: 'HI' }] })
})

test('workerd: check and test pass, it builds, and it answers on a real workerd', slowTest, async () => {
  const folder = createProject('workerd')
  for (const file of ['server.ts', 'server.test.ts', 'worker.ts', 'workerd.capnp', 'package.json', 'README.md'])
    expect(existsSync(join(folder, file)), file).toBe(true)
  expect(JSON.parse(contentOf(folder, 'package.json'))).toMatchObject({
    name: 'my-workerd',
    scripts: { start: expect.stringContaining('workerd serve') },
  })
  // The runtime of the tests is used below, and its program is a large download.
  const manifest = JSON.parse(contentOf(folder, 'package.json')) as { devDependencies: { workerd?: string } }
  delete manifest.devDependencies.workerd
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  npm(folder, 'install', ...quiet)
  npm(folder, 'run', 'check')
  expect(npm(folder, 'test')).toContain('pass 2')
  npm(folder, 'run', 'build')
  const port = await freePort()
  const args = ['serve', 'workerd.capnp', '--socket-addr', `http=127.0.0.1:${port}`]
  const child = spawn(programIn('runtimes', 'workerd'), args, { cwd: folder, env, stdio: 'ignore' })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const params = { name: 'shout', arguments: { text: 'hi' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  // Sends the host that users use; `fetch` would send the port of this test.
  const headers = { host: '127.0.0.1:8080', 'content-type': 'application/json', accept: accepts }
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const sent = request(
        { host: '127.0.0.1', port, path: '/my-workerd/mcp', method: 'POST', headers },
        (response) => {
          text(response).then(resolve, (error: Error) => resolve(error.message))
        },
      )
      sent.on('error', (error) => resolve(error.message))
      sent.end(body)
    })
  await expect.poll(ask, { timeout: 60_000 }).toContain('"HI"')
})

test('the service, the worker and the address have the server’s name, and secrets are ignored by git', () => {
  const [forNode, forWorkerd] = ['node', 'workerd'].map((template) => {
    const folder = join(work, template, 'Tea House!')
    execFileSync(node, [main, folder, '--yes', '--template', template])
    return folder
  }) as [string, string]
  const unit = contentOf(forNode, 'tea-house.service')
  expect(unit).toContain('WorkingDirectory=/srv/tea-house\n')
  expect(contentOf(forNode, 'main.ts')).toContain("'/tea-house/mcp'")
  expect(contentOf(forWorkerd, 'wrangler.jsonc')).toContain('"name": "tea-house"')
  expect(contentOf(forWorkerd, 'README.md')).toContain('http://127.0.0.1:8080/tea-house/mcp')
  expect(contentOf(forWorkerd, 'README.md')).toContain('npx wrangler deploy')
  for (const folder of [forNode, forWorkerd]) {
    execFileSync('git', ['init', '-q'], { cwd: folder })
    const isIgnored = (file: string): boolean =>
      spawnSync('git', ['check-ignore', '-q', file], { cwd: folder }).status === 0
    expect(
      ['node_modules/x', 'dist/worker.js', '.env', '.env.local', '.dev.vars', '.sluice/secret'].every(isIgnored),
    ).toBe(true)
    expect(['server.ts', 'package-lock.json', '.npmrc'].some(isIgnored)).toBe(false)
  }
})

test('systemd accepts the unit', () => {
  const folder = join(work, 'unit', 'tea')
  execFileSync(node, [main, folder, '--yes'])
  const file = join(folder, 'tea.service')
  // systemd looks for the program, which is elsewhere on this machine.
  writeFileSync(file, contentOf(folder, 'tea.service').replace('/usr/bin/node', node))
  const { status, stderr } = spawnSync(requireProgram('systemd-analyze', 'systemd'), ['verify', file], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('an old Node gets a message, and a project names the Node that it needs', () => {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.17.0"}})'
  const folder = join(work, 'old')
  const { status, stderr } = spawnSync(node, ['--import', `data:text/javascript,${old}`, main, folder, '--yes'], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('needs Node 22.18 or newer')
  expect(stderr).toContain('this is 22.17.0')
  expect(existsSync(folder)).toBe(false)
  execFileSync(node, [main, folder, '--yes'])
  expect(JSON.parse(contentOf(folder, 'package.json'))).toMatchObject({ engines: { node: '>=22.18' } })
  expect(contentOf(folder, '.npmrc')).toContain('engine-strict=true')
})

test('existing files are not overwritten, and an unknown template is refused with the choices', () => {
  const folder = mkdtempSync(join(work, 'full-'))
  writeFileSync(join(folder, 'precious'), '')
  const attempt = (...args: readonly string[]): string => {
    try {
      execFileSync(node, [main, ...args], { stdio: 'pipe' })
      return ''
    } catch (thrown) {
      return String((thrown as { stderr: Buffer }).stderr)
    }
  }
  expect(execFileSync(node, [main, '--help'], { encoding: 'utf8' })).toContain('Examples:\n  $ npm create sluice')
  expect(attempt(folder, '--yes')).toContain('is not empty')
  expect(attempt(join(work, 'x'), '--template', 'rust')).toContain('node or workerd')
})
