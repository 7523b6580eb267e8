import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { defineServer } from '../protocol/definition.ts'
import { resource } from '../protocol/resources.ts'
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
