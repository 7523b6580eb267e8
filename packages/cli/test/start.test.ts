/** `sluice start` as a newcomer meets it: five servers, the console in a real browser, a gated call that a person allows. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo } from '../../../test/kit/clients/binary.client.ts'
import { startChromium } from '../../../test/kit/processes/chromium.ts'
import { aFolder, sluice, startAll } from './command.ts'

const patient = { timeout: 180_000 }

const textOf = (result: unknown): string => (result as { content: readonly { text: string }[] }).content[0]?.text ?? ''

test('five servers, ready for the official client, each with its own tools', patient, async () => {
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
  // What Claude Desktop is told to start works from wherever that starts it, beside what runs here.
  const desktop = JSON.parse(readFileSync(join(cwd, '.sluice/clients/claude_desktop_config.json'), 'utf8')) as {
    mcpServers: { [name: string]: { command: string; args: string[] } | undefined }
  }
  const { command = '', args = [] } = desktop.mcpServers['sluice-memory'] ?? {}
  const beside = new Client({ name: 'a-client', version: '1.0.0' })
  await beside.connect(new StdioClientTransport({ command, args, cwd: '/', stderr: 'ignore' }))
  onTestFinished(() => beside.close())
  expect((await beside.listTools()).tools.length).toBeGreaterThan(0)
  await beside.close()
  expect(await stop()).toBe(0)
})

test('the same keys after a restart, and two tenants that do not see each other', patient, async () => {
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

test('fitness lists its tools to everybody, and answers each athlete alone', patient, async () => {
  const { keys, url } = await startAll(aFolder())
  const nobody = await connectTo(url('fitness'))
  expect((await nobody.listTools()).tools).toHaveLength(16)
  await expect(nobody.callTool({ name: 'get_athlete', arguments: {} })).rejects.toThrow('Authentication required')
  const goal = { title: 'Alice’s goal', goal_type: 'distance', target_value: 100, target_date: '2100-01-01' }
  const alice = await connectTo(url('fitness'), keys['alice'])
  await alice.callTool({ name: 'set_goal', arguments: goal })
  expect(textOf(await alice.callTool({ name: 'track_progress', arguments: {} }))).toContain('Alice’s goal')
  const bob = await connectTo(url('fitness'), keys['bob'])
  expect(textOf(await bob.callTool({ name: 'track_progress', arguments: {} }))).toContain('no goals yet')
})

test('Lisp runs what was approved from the terminal, in a real image', patient, async () => {
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

test(
  'a gated call waits, a person signs in by the link and approves it in the page, and it runs once',
  patient,
  async () => {
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
    // The approval is spent: the same call again asks anew.
    expect(textOf(await client.callTool(clear))).toContain('approval_required')
    const verified = await sluice(cwd, ['audit', 'verify', '--tenant', 'you'])
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('✓ you') })
  },
)

test('doctor finds a good server good in both eras, and says what a bad address needs', patient, async () => {
  const cwd = aFolder()
  const { keys, url, console: link } = await startAll(cwd)
  const good = await sluice(cwd, ['doctor', url('routes'), '--token', keys['you'] ?? ''])
  expect(good.out).toContain('✓ MCP 2026-07-28: 2026-07-28, routes')
  expect(good.out).toContain('✓ MCP by initialize: 2025-11-25, routes')
  expect(good.code).toBe(0)
  const locked = await sluice(cwd, ['doctor', url('routes')])
  expect(locked.out).toContain('sluice keys create')
  expect(locked.code).toBe(3)
  expect((await sluice(cwd, ['call', url('routes')])).err).toContain('wants a credential')
  expect((await sluice(cwd, ['doctor', 'http://127.0.0.1:1/mcp'])).out).toContain('nothing answers')
  // Whoever asks while it runs is not told that its own ports are taken.
  const ports = { SLUICE_PORT: new URL(url('routes')).port, SLUICE_CONSOLE__PORT: new URL(link).port }
  const here = await sluice(cwd, ['doctor'], ports)
  expect(here.out.match(/where Sluice is running/g)).toHaveLength(2)
  expect(here.code).toBe(0)
})
