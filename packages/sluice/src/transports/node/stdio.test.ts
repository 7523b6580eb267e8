import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { jsonSchema } from '../../json-schema/index.ts'
import { createServer } from '../../node.ts'
import { log } from '../../plugins/log.ts'
import { defineServer } from '../../protocol/definition.ts'
import { resource } from '../../protocol/resources.ts'
import { toTransportServer } from '../../protocol/server.ts'
import { tool } from '../../protocol/tools.ts'
import { fakeClock } from '../../testing/clock.ts'
import { listenStdio } from './stdio.ts'

const definition = defineServer({
  name: 'x',
  version: '1',
  resources: [resource({ uri: 'note:1', name: 'one', read: () => 'x' })],
})
const listen = {
  jsonrpc: '2.0',
  method: 'subscriptions/listen',
  params: {
    notifications: { resourceSubscriptions: ['note:1'] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}
const line = (message: object): string => `${JSON.stringify(message)}\n`

test('a client that does not read costs a few megabytes, and is served again when it reads', async () => {
  const warned: unknown[] = []
  const logger = {
    info() {},
    warn: (line: unknown) => {
      warned.push(line)
    },
    error() {},
  }
  const server = createServer(definition, { use: [log(logger)] })
  const input = new PassThrough()
  const woken = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (chunk.toString().includes('"id":"awake"')) answered.resolve()
      woken.promise.then(() => done(), done)
    },
  })
  const { close } = listenStdio(toTransportServer(server), { input, output })
  input.write(line({ ...listen, id: 1 }))
  await new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 100_000; i++) server.resourceUpdated('note:1')
  expect(output.writableLength).toBeLessThan(5 * 1024 * 1024)
  expect(warned).toEqual([expect.objectContaining({ event: 'clientBehind' })])
  woken.resolve()
  input.write(line({ jsonrpc: '2.0', id: 'awake', method: 'ping' }))
  await answered.promise
  close()
})

test('requests of a client that does not read are handled when it reads again', async () => {
  let ran = 0
  const long = 'x'.repeat(100_000)
  const tools = [
    tool({
      name: 'long',
      description: 'A long text',
      run() {
        ran++
        return long
      },
    }),
  ]
  const server = createServer(defineServer({ name: 'x', version: '1', tools }))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { close } = listenStdio(toTransportServer(server), { input, output })
  input.write(calls('long', 500, () => ({})))
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(ran).toBeLessThan(100)
  const answered = new Set<unknown>()
  let rest = ''
  await new Promise<void>((resolve) => {
    output.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const each of lines) answered.add(JSON.parse(each).id)
      if (answered.size === 500) resolve()
    })
  })
  close()
})

test('open subscriptions do not count as running calls: reading continues, and the end of input ends them at once', async () => {
  const server = createServer(definition, { clock: fakeClock() })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(toTransportServer(server), { input, output, maxInFlight: 3 })
  for (let id = 1; id <= 10; id++) input.write(line({ ...listen, id }))
  input.end(line({ jsonrpc: '2.0', id: 'last', method: 'ping' }))
  await closed
  expect(String(output.read())).toContain('"id":"last","result":{}')
})

const meta = listen.params._meta
const calls = (name: string, amount: number, args: (id: number) => object): string =>
  Array.from({ length: amount }, (_, id) =>
    line({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args(id), _meta: meta } }),
  ).join('')

test('of many lines that arrive at once, the first are answered before the last are handled', async () => {
  const events: string[] = []
  const note = tool({
    name: 'note',
    description: 'Notes that it ran',
    run: () => {
      events.push('run')
      return 'noted'
    },
  })
  const server = createServer(defineServer({ name: 'x', version: '1', tools: [note] }))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(toTransportServer(server), { input, output })
  output.on('data', () => events.push('answered'))
  input.end(calls('note', 500, () => ({})))
  await closed
  expect(events.filter((each) => each === 'run')).toHaveLength(500)
  expect(events.indexOf('answered')).toBeLessThan(events.lastIndexOf('run'))
})

test('a cancellation in the same chunk as many calls finds the call it names', async () => {
  const hold = tool({
    name: 'hold',
    description: 'Runs until it is stopped, if asked to',
    input: jsonSchema<{ long: boolean }>({ type: 'object', properties: { long: { type: 'boolean' } } }),
    run: ({ long }, { signal }) =>
      long ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) : 'done',
  })
  const server = createServer(defineServer({ name: 'x', version: '1', tools: [hold] }), {
    clock: fakeClock(),
  })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(toTransportServer(server), { input, output })
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99, _meta: meta } }
  input.end(calls('hold', 100, (id) => ({ long: id === 99 })) + line(cancel))
  await closed
  expect(String(output.read()).trim().split('\n')).toHaveLength(99)
})
