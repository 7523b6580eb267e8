/** A project is made, tested and run as its README says, on packages as they are published. */

import { execFileSync, spawn } from 'node:child_process'
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
import { freePort } from '../../../test/kit/processes/programs.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const library = fileURLToPath(new URL('../../sluice', import.meta.url))
const node = process.execPath
const patient = { timeout: 300_000 }
const accepts = 'application/json, text/event-stream'
const work = mkdtempSync(join(tmpdir(), 'sluice-create-'))
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
let tarball = ''

/** The repository's own Node goes before an older one, here as in npm's scripts. */
const env = {
  ...process.env,
  PATH: `${fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url))}:${process.env['PATH']}`,
}
const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

beforeAll(() => {
  const [packed] = JSON.parse(npm(library, 'pack', '--ignore-scripts', '--json', '--pack-destination', work)) as {
    filename: string
  }[]
  tarball = join(work, packed?.filename ?? '')
}, 120_000)

function made(template: string): string {
  const folder = join(work, `my-${template}`)
  execFileSync(node, [main, folder, '--yes', '--template', template, '--sluice', `file:${tarball}`])
  return folder
}
const shouted = async (client: Client): Promise<unknown> =>
  client.callTool({ name: 'shout', arguments: { text: 'hi' } })

test('for Node: its test passes, and it answers the official client over stdio and HTTP', patient, async () => {
  const folder = made('node')
  npm(folder, 'install', '--no-audit', '--no-fund', '--omit=dev', '--prefer-offline')
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
  const overHttp = new Client({ name: 'a-client', version: '1.0.0' })
  await overHttp.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => overHttp.close())
  expect(await shouted(overHttp)).toMatchObject({ content: [{ text: 'HI' }] })
})

test('for workerd: its test passes, it is built, and it answers on a real workerd', patient, async () => {
  const folder = made('workerd')
  for (const file of ['server.ts', 'server.test.ts', 'worker.ts', 'workerd.capnp', 'package.json', 'README.md'])
    expect(existsSync(join(folder, file)), file).toBe(true)
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
    name: 'my-workerd',
    scripts: { start: expect.stringContaining('workerd serve') },
  })
  npm(folder, 'install', '--no-audit', '--no-fund', '--omit=dev', '--prefer-offline')
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
  // By the name its users call it by; `fetch` would send the port it was given here.
  const headers = { host: '127.0.0.1:8080', 'content-type': 'application/json', accept: accepts }
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const sent = request({ host: '127.0.0.1', port, method: 'POST', headers }, (response) => {
        text(response).then(resolve, (error: Error) => resolve(error.message))
      })
      sent.on('error', (error) => resolve(error.message))
      sent.end(body)
    })
  await expect.poll(ask, { timeout: 60_000 }).toContain('"HI"')
})

test('nothing of anybody’s is overwritten, and a bad word says what there is', () => {
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
