import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { jsonSchema } from '../json-schema/index.ts'
import { defineServer } from '../protocol/definition.ts'
import { resource } from '../protocol/resources.ts'
import { tool } from '../protocol/tools.ts'
import { createServer } from '../server.ts'
import { fakeClock } from '../testing/clock.ts'
import { listenStdio } from './stdio.ts'

const definition = defineServer({
  info: { name: 'x', version: '1' },
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

test('a reader that lets notifications pile up is given up', async () => {
  const server = createServer(definition)
  const input = new PassThrough()
  const output = new Writable({ write() {} })
  const { closed } = listenStdio(server, { input, output })
  input.write(line({ ...listen, id: 1 }))
  await new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 100_000; i++) server.updated('note:1')
  await closed
  expect(output.writableLength).toBeLessThan(2 * 1024 * 1024)
})

test('open subscriptions are not work under way: reading goes on, and the end of input ends them at once', async () => {
  const server = createServer(definition, { clock: fakeClock() })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(server, { input, output, maxInFlight: 3 })
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

test('of many lines that come at once, the first are answered before the last are taken', async () => {
  const events: string[] = []
  const note = tool({
    name: 'note',
    description: 'Notes that it ran',
    run: () => {
      events.push('run')
      return 'noted'
    },
  })
  const server = createServer(defineServer({ info: { name: 'x', version: '1' }, tools: [note] }))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(server, { input, output })
  output.on('data', () => events.push('answered'))
  input.end(calls('note', 500, () => ({})))
  await closed
  expect(events.filter((each) => each === 'run')).toHaveLength(500)
  expect(events.indexOf('answered')).toBeLessThan(events.lastIndexOf('run'))
})

test('a cancellation that comes in the same chunk as many calls finds the call it names', async () => {
  const hold = tool({
    name: 'hold',
    description: 'Goes on until it is stopped, if told so',
    input: jsonSchema<{ long: boolean }>({ type: 'object', properties: { long: { type: 'boolean' } } }),
    run: ({ long }, { signal }) =>
      long ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) : 'done',
  })
  const server = createServer(defineServer({ info: { name: 'x', version: '1' }, tools: [hold] }), {
    clock: fakeClock(),
  })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const { closed } = listenStdio(server, { input, output })
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99, _meta: meta } }
  input.end(calls('hold', 100, (id) => ({ long: id === 99 })) + line(cancel))
  await closed
  expect(String(output.read()).trim().split('\n')).toHaveLength(99)
})
