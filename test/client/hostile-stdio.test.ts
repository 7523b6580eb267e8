/** `sluice/client` on pipes whose other end misbehaves: requests end, processes end, nothing is left. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Client, ClientOptions } from 'sluice/client'
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'

const program = join(import.meta.dirname, 'hostile-stdio.fixture.ts')
const maxMessageBytes = 1024 * 1024

async function open(how: string, options: ClientOptions = {}): Promise<Client> {
  const transport = stdioTransport({ command: process.execPath, args: [program, how], maxMessageBytes })
  const client = await connect(transport, options)
  onTestFinished(() => client.close())
  return client
}
const call = (client: Client): Promise<unknown> => client.callTool('a')

/** Processes that run the program, this test's name in their arguments. */
const running = (how: string): string => {
  try {
    return execFileSync('pgrep', ['-f', `hostile-stdio.ts ${how}$`], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

function isGone(group: number): boolean {
  try {
    process.kill(-group, 0)
    return false
  } catch {
    return true
  }
}

test('output that is not JSON-RPC is skipped, and the answer found', async () => {
  const ignored: string[] = []
  const client = await open('garbage', { onIgnored: (problem) => ignored.push(problem) })
  expect(await call(client)).toMatchObject({ content: [] })
  expect(ignored.length).toBeGreaterThanOrEqual(6)
})
test('a line that comes byte by byte is read', async () => {
  expect(await call(await open('half-lines'))).toMatchObject({ content: [{ text: 'ü👋' }] })
})
test('a line without end closes the connection', async () => {
  const client = await open('endless-line')
  await expect(call(client)).rejects.toMatchObject({ reason: 'tooLarge' })
  await expect(call(client)).rejects.toMatchObject({ reason: 'closed', mayHaveRun: false })
  await client.close()
  expect(running('endless-line')).toBe('')
})
test('a flood does not keep a request from its deadline', async () => {
  const clock = fakeClock()
  let notified = 0
  const client = await open('flood', {
    clock,
    onNotification() {
      if (++notified === 20_000) clock.jump(60_000)
    },
  })
  await expect(call(client)).rejects.toMatchObject({ reason: 'timeout' })
  await client.close()
  expect(running('flood')).toBe('')
})
test('only the id that was asked is answered, once', async () => {
  expect(await call(await open('wrong-ids'))).toMatchObject({ content: [{ text: 'right' }] })
})
test('a server that ends fails what was in flight, as in doubt', async () => {
  const closed: string[] = []
  const client = await open('exit', { onClose: ({ message }) => closed.push(message) })
  const failed = await Promise.allSettled([call(client), call(client), call(client)])
  for (const outcome of failed)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'closed', mayHaveRun: true } })
  expect(closed).toHaveLength(1)
})
test('a server that closes its output but lives on is ended', async () => {
  const client = await open('close-output')
  await expect(call(client)).rejects.toMatchObject({ reason: 'closed' })
  await client.close()
  expect(running('close-output')).toBe('')
})
test('closing fails what is in flight', async () => {
  const client = await open('silent')
  const failed = expect(call(client)).rejects.toMatchObject({ reason: 'closed' })
  await client.close()
  await failed
})
test.each(['stubborn', 'leaves-child'])('a server (%s) and what it started are ended', async (how) => {
  const started = Promise.withResolvers<number>()
  const client = await open(how, { onNotification: (_method, { data }) => started.resolve(Number(data)) })
  const failed = expect(call(client)).rejects.toMatchObject({ reason: 'closed' })
  const group = await started.promise
  await client.close()
  await failed
  expect(running(how)).toBe('')
  // A process that was killed is still there until the system has cleared it away.
  await expect.poll(() => isGone(group)).toBe(true)
})
test('a program that does not exist is unreachable', async () => {
  await expect(connect(stdioTransport({ command: '/nowhere/at/all' }))).rejects.toMatchObject({
    reason: 'unreachable',
    mayHaveRun: false,
  })
})
test('secrets of this process are not in the environment of the server', async () => {
  process.env['SLUICE_TEST_SECRET'] = 'hunter2'
  onTestFinished(() => {
    delete process.env['SLUICE_TEST_SECRET']
  })
  const seen: string[] = []
  const script = 'process.stderr.write(JSON.stringify(process.env)); process.exit()'
  const transport = stdioTransport({
    command: process.execPath,
    args: ['-e', script],
    env: { NAMED: 'yes' },
    onStderr: (text) => seen.push(text),
  })
  await expect(connect(transport)).rejects.toMatchObject({ reason: 'closed' })
  expect(seen.join('')).toContain('"NAMED":"yes"')
  expect(seen.join('')).not.toContain('hunter2')
})
