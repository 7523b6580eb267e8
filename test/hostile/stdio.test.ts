/** stdio as a real client uses it: a process, its pipes, and everything that can go wrong with them. */

import type { Params } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import { callOf, initialize, request } from '../kit/clients/valid-messages.ts'
import { killAll, startChild } from '../kit/processes/child.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

afterEach(killAll)

const textOf = (answer: Params): unknown =>
  (answer as { result?: { content?: { text?: unknown }[] } }).result?.content?.[0]?.text

describe('lines', () => {
  test('one of 64 MB without an end is answered once, skipped, and the next call is served', async () => {
    const child = startChild('stdio-server.fixture.ts')
    await child.send(callOf(1, 'held'))
    const before = await child.next()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let megabyte = 0; megabyte < 64; megabyte++) await child.write(piece)
    const refusal = await child.next()
    expect(refusal).toMatchObject({ jsonrpc: '2.0', error: { code: -32600, data: { reason: 'payloadTooLarge' } } })
    expect(refusal).not.toHaveProperty('id')
    await child.write('\n')
    await child.send(callOf(2, 'held'))
    const after = await child.next()
    expect(after).toMatchObject({ id: 2 })
    const held = (answer: Params): number =>
      (answer as { result: { structuredContent: { held: number } } }).result.structuredContent.held
    expect(held(after) - held(before)).toBeLessThan(32 * 1024 * 1024)
    child.process.stdin.end()
    expect(await child.exit).toMatchObject({ code: 0, left: [] })
  })

  test('one that is too long and never ends is answered once, also at the end of input', async () => {
    const { server } = createAttackedServer()
    const pipe = pipeTo(server, { maxLineBytes: 1000 })
    for (let piece = 0; piece < 50; piece++) pipe.write('x'.repeat(100))
    pipe.end()
    expect(await pipe.next()).toMatchObject({ error: { data: { reason: 'payloadTooLarge' } } })
    await pipe.serving.closed
  })

  test('one of exactly the limit is served, one byte more is not', async () => {
    const { server } = createAttackedServer()
    const ping = JSON.stringify(request(1, 'ping'))
    const pipe = pipeTo(server, { maxLineBytes: ping.length + 10 })
    pipe.write(`${ping}${' '.repeat(10)}\n`)
    expect(await pipe.next()).toMatchObject({ id: 1, result: {} })
    pipe.write(`${ping}${' '.repeat(11)}\n`)
    expect(await pipe.next()).toMatchObject({ error: { data: { reason: 'payloadTooLarge' } } })
    pipe.write(`${ping}\n`)
    expect(await pipe.next()).toMatchObject({ id: 1, result: {} })
  })

  test('they may arrive in any fragments', async () => {
    const { server } = createAttackedServer()
    const pipe = pipeTo(server)
    const lines = [1, 2, 3].map((id) => `${JSON.stringify(callOf(id, 'echo', { text: 'é€🚧' }))}\r\n`)
    for (const byte of Buffer.from(lines.join(''))) pipe.write(Buffer.from([byte]))
    for (const _ of lines) expect(textOf(await pipe.next())).toBe('é€🚧')
  })

  test('CRLF, blank lines and NULs are not messages and get no answer', async () => {
    const child = startChild('stdio-server.fixture.ts')
    await child.write('\r\n\n\n   \n\t\n\0\0\0\n\0\r\n')
    await child.write(`${JSON.stringify(callOf(1, 'echo', { text: 'a' }))}\r\n\r\n`)
    expect(await child.next()).toMatchObject({ id: 1 })
    await child.write('\n\n')
    child.process.stdin.end(JSON.stringify(callOf(2, 'echo', { text: 'without a newline' })))
    expect(await child.next()).toMatchObject({ id: 2 })
    expect(await child.exit).toMatchObject({ code: 0, left: [] })
  })
})

describe('cancelling', () => {
  const cancel = (requestId: unknown): Params => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  })

  test('of an unknown, finished or invalid id does nothing', async () => {
    const { server } = createAttackedServer()
    const pipe = pipeTo(server)
    pipe.send(callOf(1, 'echo', { text: 'a' }))
    expect(await pipe.next()).toMatchObject({ id: 1 })
    for (const id of [1, '1', 2, 'x', null, undefined, 1.5, true, {}, [], -1]) pipe.send(cancel(id))
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled' })
    expect(await pipe.settled()).toEqual([])
    pipe.send(callOf(1, 'echo', { text: 'b' }))
    expect(textOf(await pipe.next())).toBe('b')
  })

  test.each([0, '', -1, 'a'])('reaches the call with the id %j, and no other', async (id) => {
    const { server, runs } = createAttackedServer()
    const pipe = pipeTo(server)
    pipe.send(callOf(id, 'wait'))
    pipe.send(callOf('other', 'wait'))
    pipe.send(cancel(typeof id === 'number' ? String(id) : 0))
    pipe.send(request('ping', 'ping'))
    expect(await pipe.next()).toMatchObject({ id: 'ping' })
    expect(runs.get('wait stopped')).toBeUndefined()
    pipe.send(cancel(id))
    pipe.send(cancel(id))
    pipe.send(request('ping', 'ping'))
    expect(await pipe.next()).toMatchObject({ id: 'ping' })
    expect(runs.get('wait stopped')).toBe(1)
    pipe.send(cancel('other'))
    expect(await pipe.settled()).toEqual([])
    expect(runs.get('wait stopped')).toBe(2)
  })

  test('the handshake is not possible', async () => {
    const { server } = createAttackedServer()
    const pipe = pipeTo(server)
    pipe.write(`${JSON.stringify(initialize('2025-11-25', 0))}\n${JSON.stringify(cancel(0))}\n`)
    expect(await pipe.next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } })
  })
})

describe('stdout', () => {
  test('carries only the protocol, whatever tools do', async () => {
    const child = startChild('stdio-server.fixture.ts')
    const writers = [
      ...[
        'console.log',
        'console.info',
        'console.table',
        'console.dir',
        'process.stdout.write',
        'process.stdout.write without a newline',
      ],
      ...[
        'process.stdout.write of bytes',
        'process.stdout.write with a callback',
        'something that looks like an answer',
        'spawn, inherit',
      ],
      ...[
        'spawn, each inherited',
        'spawn, by number',
        'spawn, by stream',
        'spawn, stdout as stderr',
        'spawn through a shell',
      ],
      ...[
        'spawnSync, inherit',
        'spawnSync, by number',
        'spawnSync, without arguments',
        'execSync, inherit',
        'execFileSync, inherit',
      ],
      ...['require, spawnSync', 'fork, as it is', 'fork, inherit', 'worker'],
    ]
    for (const writer of writers) {
      await child.send(callOf(writer, 'stray', { writer }))
      expect(textOf(JSON.parse(await child.line())), writer).toBe(`did ${writer}`)
    }
    child.process.stdin.end()
    const { code, stderr, left } = await child.exit
    expect(left).toEqual([])
    expect(code).toBe(0)
    // Nothing is lost: it is on stderr, for the operator.
    expect(stderr.match(/STRAY/g)?.length).toBeGreaterThanOrEqual(writers.length)
  })

  test.each(['import', 'require', 'the loader of require', 'getBuiltinModule', 'cluster'])(
    'carries only the protocol if a tool loads the module for children late, with %s',
    async (door) => {
      const child = startChild('late-child.fixture.ts')
      await child.send(callOf(door, 'stray', { door }))
      expect(textOf(JSON.parse(await child.line()))).toBe(`did ${door}`)
      child.process.stdin.end()
      const { code, stderr, left } = await child.exit
      expect(left).toEqual([])
      expect(code).toBe(0)
      expect(stderr).toMatch(/STRAY/)
    },
  )

  test.each(['inherit', 'by number', 'by stream', 'fork'])(
    'and stdin are reserved: a child (%s) reads no requests',
    async (how) => {
      const child = startChild('stdio-server.fixture.ts')
      await child.send(callOf('reader', 'reader', { how }))
      await child.stderrMatches(/READING/)
      const ids = new Set<unknown>()
      for (let id = 0; id < 20; id++) {
        await child.send(callOf(id, 'echo', { text: 'a' }))
        ids.add((await child.next())['id'])
      }
      child.process.stdin.end()
      const { code, stderr } = await child.exit
      expect(code).toBe(0)
      expect(ids.size).toBeGreaterThanOrEqual(20)
      expect(stderr).not.toMatch(/STOLEN/)
    },
  )

  test('whose reader closes ends the process, quietly', async () => {
    const child = startChild('stdio-server.fixture.ts')
    await child.send(callOf(1, 'echo', { text: 'a' }))
    await child.next()
    child.process.stdout.destroy()
    await child.send(callOf(2, 'echo', { text: 'b' }))
    const { code, stderr } = await child.exit
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/EPIPE|Error|^\s+at /m)
  })

  test('whose reader closes during calls and a long answer ends the process, quietly', async () => {
    const child = startChild('stdio-server.fixture.ts')
    await child.send(callOf(1, 'wait'))
    await child.stderrMatches(/WAITING/)
    child.process.stdout.pause()
    for (let id = 2; id < 12; id++) await child.send(callOf(id, 'large', { size: 1_000_000 }))
    child.process.stdout.destroy()
    const { code, stderr } = await child.exit
    expect(code).toBe(0)
    expect(stderr).toMatch(/STOPPED/)
    expect(stderr).not.toMatch(/EPIPE|Error|^\s+at /m)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'that is never read does not keep the process from ending by %s',
    async (signal) => {
      const child = startChild('stdio-server.fixture.ts', JSON.stringify({ graceMs: 50 }))
      child.process.stdout.pause()
      await child.send(callOf(0, 'wait'))
      await child.stderrMatches(/WAITING/)
      for (let id = 1; id < 20; id++) await child.send(callOf(id, 'large', { size: 1_000_000 }))
      child.process.kill(signal)
      const [code] = await new Promise<unknown[]>((resolve) => child.process.once('exit', (...how) => resolve(how)))
      expect(code).toBe(0)
      child.process.stdout.resume()
      expect((await child.exit).stderr).not.toMatch(/MaxListeners|Error|^\s+at /m)
    },
  )

  test('that is read slowly gets every answer, each once', async () => {
    const child = startChild('stdio-server.fixture.ts')
    child.process.stdout.pause()
    const calls = 100
    const sent = (async () => {
      for (let id = 0; id < calls; id++) await child.send(callOf(id, 'large', { size: 100_000 }))
    })()
    await child.stderrMatches(/"event":"tool_execution_success"/)
    child.process.stdout.resume()
    const ids: unknown[] = []
    while (ids.length < calls) ids.push((await child.next())['id'])
    await sent
    expect(new Set(ids).size).toBe(calls)
    child.process.stdin.end()
    const { code, stderr, left } = await child.exit
    expect({ code, left }).toEqual({ code: 0, left: [] })
    expect(stderr).not.toMatch(/MaxListeners/)
  })
})

describe('the end', () => {
  test('of input lets running calls finish, and then the process exits', async () => {
    const child = startChild('stdio-server.fixture.ts')
    for (let id = 0; id < 5; id++) await child.send(callOf(id, 'turns', { turns: 50 * id }))
    child.process.stdin.end()
    const answers = [await child.next(), await child.next(), await child.next(), await child.next(), await child.next()]
    expect(answers.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4])
    expect(await child.exit).toMatchObject({ code: 0, signal: null, left: [] })
  })

  test.each(['wait', 'deaf'])('of input stops a call (%s) that takes longer than the grace period', async (name) => {
    const child = startChild('stdio-server.fixture.ts', JSON.stringify({ graceMs: 50 }))
    await child.send(callOf(1, name))
    await child.stderrMatches(/WAITING/)
    child.process.stdin.end()
    const { code, stderr, left } = await child.exit
    expect({ code, left }).toEqual({ code: 0, left: [] })
    if (name === 'wait') expect(stderr).toMatch(/STOPPED/)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('of input waits exactly the grace period', async () => {
    const clock = fakeClock()
    const { server, runs } = createAttackedServer({ clock })
    const pipe = pipeTo(server, { graceMs: 1000 })
    let closed = false
    const onClosed = (): void => {
      closed = true
    }
    pipe.serving.closed.then(onClosed, onClosed)
    pipe.send(callOf(1, 'wait'))
    pipe.end()
    await expect.poll(() => clock.pending).toBe(2)
    await clock.advance(999)
    expect({ closed, stopped: runs.get('wait stopped') }).toEqual({ closed: false, stopped: undefined })
    await clock.advance(1)
    await pipe.serving.closed
    expect(runs.get('wait stopped')).toBe(1)
    expect(clock.pending).toBe(0)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s exits with 0, calls are stopped and answered, and nothing stray is printed',
    async (signal) => {
      const child = startChild('stdio-server.fixture.ts')
      await child.send(callOf(1, 'wait'))
      await child.send(callOf(2, 'deaf'))
      await child.stderrMatches(/WAITING\nWAITING/)
      child.process.kill(signal)
      const { code, stderr, left } = await child.exit
      expect(code).toBe(0)
      const refused = { error: { data: { reason: 'shuttingDown' } } }
      expect(left.map((line) => JSON.parse(line))).toMatchObject([
        { id: 1, ...refused },
        { id: 2, ...refused },
      ])
      expect(stderr).toMatch(/STOPPED/)
      expect(stderr).not.toMatch(/^\s+at /m)
    },
  )

  test('by a second signal is immediate, whatever is running', async () => {
    const child = startChild('stdio-server.fixture.ts', JSON.stringify({ graceMs: 3_600_000 }))
    await child.send(callOf(1, 'deaf'))
    await child.stderrMatches(/WAITING/)
    child.process.kill('SIGTERM')
    // It is draining, and refuses later calls.
    for (let id = 2, refused = false; !refused; id++) {
      await child.send(callOf(id, 'turns', { turns: 1 }))
      refused = 'error' in (await child.next())
    }
    child.process.kill('SIGTERM')
    expect(await child.exit).toMatchObject({ code: 1, left: [] })
  })

  test('of an empty input exits with 0 without output', async () => {
    const child = startChild('stdio-server.fixture.ts')
    child.process.stdin.end()
    expect(await child.exit).toMatchObject({ code: 0, left: [], stderr: '' })
  })
})

test('two thousand calls in one burst are all answered', async () => {
  const { server } = createAttackedServer()
  const pipe = pipeTo(server)
  const calls = 2000
  for (let id = 0; id < calls; id++) pipe.send(callOf(id, 'echo', { text: String(id) }))
  const received = new Map<unknown, unknown>()
  while (received.size < calls) {
    const answer = await pipe.next()
    received.set(answer['id'], textOf(answer))
  }
  for (const [id, text] of received) expect(text).toBe(String(id))
})

test('above the limit requests are refused by their id, and pings, cancellations and answers are still processed', async () => {
  const { server, runs } = createAttackedServer()
  const pipe = pipeTo(server, { maxInFlight: 3 })
  pipe.send({
    ...initialize(),
    params: { ...(initialize()['params'] as object), capabilities: { elicitation: { form: {} } } },
  })
  await pipe.next()
  pipe.send(request('asks', 'tools/call', { name: 'asks', arguments: {} }))
  const question = await pipe.next()
  expect(question).toMatchObject({ method: 'elicitation/create' })
  for (const id of [1, 2]) pipe.send(callOf(id, 'wait'))
  pipe.send(callOf(3, 'echo', { text: 'x' }))
  expect(await pipe.next()).toMatchObject({ id: 3, error: { data: { reason: 'overloaded', retryAfterMs: 1000 } } })
  pipe.send(request(4, 'ping'))
  expect(await pipe.next()).toMatchObject({ id: 4, result: {} })
  pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  pipe.send({ jsonrpc: '2.0', id: question['id'], result: { action: 'accept', content: { region: 'eu' } } })
  expect(textOf(await pipe.next())).toBe('eu')
  expect(runs.get('wait stopped')).toBe(1)
  pipe.send(callOf(5, 'echo', { text: 'again' }))
  expect(textOf(await pipe.next())).toBe('again')
})
