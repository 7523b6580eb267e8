/** `sluice start` as a new user sees it: five servers, the console in a real browser, and a gated call that is approved. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo } from '../../../test/kit/clients/binary.client.ts'
import { startChromium } from '../../../test/kit/processes/chromium.ts'
import { aFolder, sluice, startAll } from './command.ts'

const slowTest = { timeout: 180_000 }

const textOf = (result: unknown): string => (result as { content: readonly { text: string }[] }).content[0]?.text ?? ''

test('starts five servers that the official client can use', slowTest, async () => {
  const cwd = aFolder()
  const { servers, keys, url, stop } = await startAll(cwd)
  expect(servers.map(({ name }) => name)).toEqual(['knowledge', 'memory', 'fitness', 'lisp', 'routes'])
  for (const { name, state } of servers) {
    if (state !== 'ready') continue
    const client = await connectTo(url(name), keys['you'] ?? '')
    expect((await client.listTools()).tools.length, name).toBeGreaterThan(0)
    await client.close()
  }
  for (const file of ['keys.json', 'secret', 'clients/mcp.json'])
    expect(statSync(join(cwd, '.sluice', file)).mode & 0o077, file).toBe(0)
  expect(JSON.parse(readFileSync(join(cwd, '.sluice/clients/mcp.json'), 'utf8'))).toMatchObject({
    mcpServers: { 'sluice-memory': { url: url('memory') } },
  })
  // The command for Claude Desktop works from any folder, desktopClient the running servers.
  const desktop = JSON.parse(readFileSync(join(cwd, '.sluice/clients/claude_desktop_config.json'), 'utf8')) as {
    mcpServers: { [name: string]: { command: string; args: string[] } | undefined }
  }
  const { command = '', args = [] } = desktop.mcpServers['sluice-memory'] ?? {}
  const desktopClient = new Client({ name: 'a-client', version: '1.0.0' })
  await desktopClient.connect(new StdioClientTransport({ command, args, cwd: '/', stderr: 'ignore' }))
  onTestFinished(() => desktopClient.close())
  expect((await desktopClient.listTools()).tools.length).toBeGreaterThan(0)
  await desktopClient.close()
  expect(await stop()).toBe(0)
})

test('keeps its keys after a restart, and separates two tenants', slowTest, async () => {
  const cwd = aFolder()
  const first = await startAll(cwd)
  const alice = await connectTo(first.url('memory'), first.keys['alice'] ?? '')
  await alice.callTool({ name: 'add_memory', arguments: { text: 'the purple elephant sleeps' } })
  const bob = await connectTo(first.url('memory'), first.keys['bob'] ?? '')
  expect(textOf(await bob.callTool({ name: 'search_memory', arguments: { query: 'purple elephant' } }))).not.toContain(
    'purple',
  )
  await first.stop()
  const second = await startAll(cwd)
  expect(second.keys).toEqual(first.keys)
  const again = await connectTo(second.url('memory'), second.keys['alice'] ?? '')
  expect(textOf(await again.callTool({ name: 'search_memory', arguments: { query: 'purple elephant' } }))).toContain(
    'purple',
  )
})

test('fitness lists its tools to every caller, and shows each athlete only their own data', slowTest, async () => {
  const { keys, url } = await startAll(aFolder())
  const anonymous = await connectTo(url('fitness'))
  expect((await anonymous.listTools()).tools).toHaveLength(23)
  await expect(anonymous.callTool({ name: 'get_athlete', arguments: {} })).rejects.toThrow('Authentication required')
  const goal = { title: 'Alice’s goal', goal_type: 'distance', target_value: 100, target_date: '2100-01-01' }
  const alice = await connectTo(url('fitness'), keys['alice'])
  await alice.callTool({ name: 'set_goal', arguments: goal })
  expect(textOf(await alice.callTool({ name: 'track_progress', arguments: {} }))).toContain('Alice’s goal')
  const bob = await connectTo(url('fitness'), keys['bob'])
  expect(textOf(await bob.callTool({ name: 'track_progress', arguments: {} }))).toContain('No goal is set yet')
})

test('Lisp runs a call that was approved from the terminal, in a real image', slowTest, async () => {
  const cwd = aFolder()
  const { keys, url } = await startAll(cwd)
  const client = await connectTo(url('lisp'), keys['you'])
  // The first image compiles Swank, which may take a while.
  await client.callTool({ name: 'repl_connect', arguments: {} }, undefined, { timeout: 120_000 })
  const evaluate = async (): Promise<string> =>
    textOf(
      await client.callTool({ name: 'repl_eval', arguments: { code: '(* 6 7)' } }, undefined, { timeout: 100_000 }),
    )
  const { request_id: id } = JSON.parse(await evaluate())
  expect(await sluice(cwd, ['approvals', 'approve', id])).toMatchObject({ code: 0 })
  expect(await evaluate()).toBe('=> 42')
})

test('a gated call runs once after a person signs in by the link and approves it in the page', slowTest, async () => {
  const cwd = aFolder()
  const { keys, url, console: link } = await startAll(cwd)
  const client = await connectTo(url('memory'), keys['you'] ?? '')
  await client.callTool({ name: 'add_memory', arguments: { text: 'soon to be gone' } })
  const clear = { name: 'clear_all', arguments: { confirm_phrase: 'DELETE ALL MEMORIES' } }
  expect(textOf(await client.callTool(clear))).toContain('approval_required')

  const browser = await startChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(link)
  await page.getByText('clear_all').first().click()
  await page.getByRole('button', { name: /^approve/i }).click()
  await expect
    .poll(async () => (await sluice(cwd, ['approvals', 'list', '--json'])).out, { timeout: 60_000 })
    .toContain('"approved"')

  expect(textOf(await client.callTool(clear))).not.toContain('approval_required')
  expect(textOf(await client.callTool({ name: 'list_memories', arguments: {} }))).not.toContain('soon to be gone')
  // The approval is spent, so the same call needs a new one.
  expect(textOf(await client.callTool(clear))).toContain('approval_required')
  const verified = await sluice(cwd, ['audit', 'verify', '--tenant', 'you'])
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('✓ you') })
})

test('doctor checks a server in both eras, and says what to do about a wrong URL', slowTest, async () => {
  const cwd = aFolder()
  const { keys, url, console: link } = await startAll(cwd)
  const good = await sluice(cwd, ['doctor', url('routes'), '--token', keys['you'] ?? ''])
  expect(good.out).toContain('✓ MCP 2026-07-28: 2026-07-28, routes')
  expect(good.out).toContain('✓ MCP by initialize: 2025-11-25, routes')
  expect(good.code).toBe(0)
  const locked = await sluice(cwd, ['doctor', url('routes')])
  expect(locked.out).toContain('sluice keys create')
  expect(locked.code).toBe(3)
  expect((await sluice(cwd, ['call', url('routes')])).err).toContain('requires a credential')
  expect((await sluice(cwd, ['doctor', 'http://127.0.0.1:1/mcp'])).out).toContain('no response from')
  // While Sluice runs, the doctor does not report its own ports as in use by another program.
  const ports = { SLUICE_PORT: new URL(url('routes')).port, SLUICE_CONSOLE__PORT: new URL(link).port }
  const machine = await sluice(cwd, ['doctor'], ports)
  expect(machine.out.match(/in use by Sluice/g)).toHaveLength(2)
  expect(machine.code).toBe(0)
})
