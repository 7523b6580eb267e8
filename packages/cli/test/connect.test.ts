/** `sluice connect`: a server over HTTP, for clients that only start commands. */

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../../test/kit/clients/binary.client.ts'
import { programIn } from '../../../test/kit/processes/npm-packages.ts'
import { aFolder, main, sluice, startAll } from './command.ts'

const slowTest = { timeout: 180_000 }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('connect starts the local Sluice once, signs in with its key and relays', slowTest, async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'letter.txt'), 'Dear Ada')
  const data = join(cwd, '.sluice')
  const port = await freePort()
  const servers = {
    files: {
      command: programIn('referee-servers', 'mcp-server-filesystem'),
      args: [cwd],
      rules: [{ tools: 'write_*', approval: 'always' }],
    },
  }
  const config = join(cwd, 'sluice.config.json')
  writeFileSync(config, JSON.stringify({ servers, port, console: null, admission: null, drain: { noticeMs: 1 } }))
  const pids = (): readonly number[] =>
    existsSync(join(data, 'control')) ? readdirSync(join(data, 'control')).map((name) => Number.parseInt(name, 10)) : []
  onTestFinished(async () => {
    for (const pid of pids()) process.kill(pid, 'SIGTERM')
    await expect.poll(pids, { timeout: 60_000 }).toEqual([])
  })
  /** Starts the command from another folder, as desktop clients do. */
  const connected = async (target: string): Promise<Client> => {
    // It can open pages. The console's page is not https, so the ticket is still answered in words.
    const capabilities = { elicitation: { form: {}, url: {} } }
    const client = new Client({ name: 'a-client', version: '1.0.0' }, { capabilities })
    const args = [main, 'connect', target, '--data', data, '--config', config]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: '/', stderr: 'ignore' }))
    onTestFinished(() => client.close())
    return client
  }
  const first = await connected(`http://127.0.0.1:${port}/files/mcp`)
  expect((await first.listTools()).tools).toHaveLength(14)
  expect(await textOf(first, 'read_text_file', { path: join(cwd, 'letter.txt') })).toBe('Dear Ada')
  const letter = { path: join(cwd, 'answer.txt'), content: 'Dear Charles' }
  const { request_id: ticket } = JSON.parse(await textOf(first, 'write_file', letter)) as { request_id: string }
  expect(await sluice(cwd, ['approvals', 'approve', ticket])).toMatchObject({ code: 0 })
  expect(await textOf(first, 'write_file', letter)).toContain('Successfully wrote')

  const [before] = pids()
  await first.close()
  const second = await connected('files')
  expect(await textOf(second, 'read_text_file', { path: letter.path })).toBe('Dear Charles')
  expect(pids()).toEqual([before])
})

test('connect says why the local Sluice did not start', slowTest, async () => {
  const cwd = aFolder()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    other.close()
  })
  const console = { port: (other.address() as AddressInfo).port }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ port: await freePort(), console, admission: null }))
  const { code, err } = await sluice(cwd, ['connect', 'routes'])
  expect(err).toContain(`Sluice did not start: Port ${console.port} is in use.`)
  expect(code).toBe(1)
})

test('connect says why it cannot connect', slowTest, async () => {
  const cwd = aFolder()
  const url = `http://127.0.0.1:${await freePort()}/files/mcp`
  const elsewhere = await sluice(cwd, ['connect', url])
  expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('the configured port is 3000') })
  const started = await startAll(cwd, ['--no-demo'])
  const missing = await sluice(cwd, ['connect', new URL('/none/mcp', started.url('routes')).href, '--no-start'])
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('does not exist on the server') })
  const refused = await sluice(cwd, ['connect', url, '--no-start'])
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') })
})
