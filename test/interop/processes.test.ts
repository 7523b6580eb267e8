/** The fixture as a separate program, on the build: its start, its output and its end. */

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { envelope, toInitialize } from '../kit/clients/envelope.ts'
import { modernHeaders, post } from '../kit/clients/http-events.ts'
import { Inbox } from '../kit/clients/inbox.ts'
import type { Params } from '../kit/clients/protocol.client.ts'
import { allCapabilities, isObject } from '../kit/clients/protocol.client.ts'

const program = fileURLToPath(new URL('../kit/servers/everything.fixture.ts', import.meta.url))
const discover: Params = { jsonrpc: '2.0', id: 'd', method: 'server/discover', params: { _meta: envelope({}) } }

interface Program {
  readonly child: ChildProcessWithoutNullStreams
  /** Lines of its standard output. */
  readonly lines: Inbox<string>
  readonly exit: Promise<unknown>
}
function start(...args: readonly string[]): Program {
  const child = spawn(process.execPath, [program, ...args])
  const lines = new Inbox<string>()
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return { child, lines, exit }
}
const idOf = (line: string): unknown => {
  const message: unknown = JSON.parse(line)
  return isObject(message) ? message['id'] : undefined
}

describe('over a pipe', () => {
  const write = ({ child }: Program, message: unknown): boolean =>
    child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)

  test('it answers, and exits normally with its input', async () => {
    const running = start('--stdio')
    write(running, discover)
    await running.lines.next((line) => idOf(line) === 'd')
    running.child.stdin.end()
    expect(await running.exit).toBe(0)
  })
  test('the last request is answered before it exits', async () => {
    const running = start('--stdio')
    write(running, discover)
    running.child.stdin.end(`${JSON.stringify({ ...discover, id: 'last' })}\r\n`)
    expect(await running.exit).toBe(0)
    expect(running.lines.all.map(idOf)).toEqual(['d', 'last'])
  })
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it normally', async (signal) => {
    const running = start('--stdio')
    write(running, discover)
    await running.lines.next((line) => idOf(line) === 'd')
    running.child.kill(signal)
    expect(await running.exit).toBe(0)
  })
  test('an invalid message is refused without an id, and the next one is served', async () => {
    const running = start('--stdio')
    write(running, '{"jsonrpc":"2.0",')
    write(running, '')
    write(running, discover)
    await running.lines.next((line) => idOf(line) === 'd')
    const [refusal, ...others] = running.lines.all.map((line) => JSON.parse(line))
    expect(refusal).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } })
    expect(refusal).not.toHaveProperty('id')
    expect(others).toHaveLength(1)
  })
  test('both eras may use one pipe', async () => {
    const running = start('--stdio')
    write(running, discover)
    const params = toInitialize({ revision: '2024-11-05', capabilities: allCapabilities })
    write(running, { jsonrpc: '2.0', id: 'i', method: 'initialize', params })
    write(running, { jsonrpc: '2.0', id: 'old', method: 'tools/call', params: { name: 'numbers' } })
    write(running, {
      jsonrpc: '2.0',
      id: 'new',
      method: 'tools/call',
      params: { name: 'numbers', _meta: envelope({}) },
    })
    for (const id of ['d', 'i', 'old', 'new']) await running.lines.next((line) => idOf(line) === id)
    const answers = Object.fromEntries(running.lines.all.map((line) => [idOf(line), JSON.parse(line).result]))
    expect(answers['i']).toMatchObject({ protocolVersion: '2024-11-05' })
    expect(answers['old']).not.toHaveProperty('structuredContent')
    expect(answers['new']).toMatchObject({ structuredContent: [1, 2, 3], resultType: 'complete' })
  })
})

test('over HTTP it prints its address and serves both eras there', async () => {
  const { lines } = start()
  const url = await lines.next(() => true)
  const modern = await post(url, discover, modernHeaders(discover))
  expect(await modern.json()).toMatchObject({ id: 'd', result: { supportedVersions: ['2026-07-28'] } })
  const params = toInitialize({ revision: '2025-03-26', capabilities: {} })
  const legacy = await post(url, { jsonrpc: '2.0', id: 'i', method: 'initialize', params })
  expect(await legacy.json()).toMatchObject({ id: 'i', result: { protocolVersion: '2025-03-26' } })
})
