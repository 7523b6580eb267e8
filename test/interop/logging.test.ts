/** Log messages to the client: a level per connection before 2026-07-28, a level per request from then on. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { keys } from '../kit/clients/envelope.ts'
import type { Params, ProtocolClient } from '../kit/clients/protocol.client.ts'
import {
  callTool,
  errorOf,
  legacy,
  methodIs,
  modern,
  openProtocolClient,
  resultOf,
  transports,
} from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const all = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const from = (level: (typeof all)[number]): readonly string[] => all.slice(all.indexOf(level))
const levelsOf = (wire: ProtocolClient): readonly unknown[] =>
  wire.received.all.filter(methodIs('notifications/message')).map(({ params }) => (params as Params)['level'])

describe.each(transports)('over %s', (transport) => {
  describe.each(legacy)('%s', (revision) => {
    test('a connection receives messages at its level or above, by default info', async () => {
      const wire = await openProtocolClient(transport, revision)
      onTestFinished(() => wire.close())
      await callTool(wire, 'log')
      expect(levelsOf(wire)).toEqual(from('info'))
      for (const level of all) {
        wire.received.clear()
        expect(resultOf(await wire.send('logging/setLevel', { level }))).toEqual({})
        await callTool(wire, 'log')
        expect(levelsOf(wire)).toEqual(from(level))
      }
      expect(wire.received.all).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'emergency', logger: 'everything', data: { level: 'emergency' } },
        },
      ])
    })
    test('an unknown level is refused, and the earlier one stays', async () => {
      const wire = await openProtocolClient(transport, revision)
      onTestFinished(() => wire.close())
      await wire.send('logging/setLevel', { level: 'alert' })
      for (const level of ['loud', 'INFO', 3, undefined])
        expect(errorOf(await wire.send('logging/setLevel', level === undefined ? {} : { level }))['code']).toBe(-32602)
      await callTool(wire, 'log')
      expect(levelsOf(wire)).toEqual(from('alert'))
    })
  })

  describe(modern, () => {
    const log = (wire: ProtocolClient, level?: string): Promise<Params | null> =>
      wire.send(
        'tools/call',
        { name: 'log', arguments: {} },
        level === undefined ? {} : { meta: { [keys.logLevel]: level } },
      )

    test('a request without a level receives no messages', async () => {
      const wire = await openProtocolClient(transport, modern)
      onTestFinished(() => wire.close())
      resultOf(await log(wire))
      expect(wire.received.all).toEqual([])
    })
    test.each(all)('a request with level %s receives that and above, and the next one nothing', async (level) => {
      const wire = await openProtocolClient(transport, modern)
      onTestFinished(() => wire.close())
      resultOf(await log(wire, level))
      expect(levelsOf(wire)).toEqual(from(level))
      resultOf(await log(wire))
      expect(levelsOf(wire)).toEqual(from(level))
    })
    test('an unknown level is refused', async () => {
      const wire = await openProtocolClient(transport, modern)
      onTestFinished(() => wire.close())
      expect(errorOf(await log(wire, 'loud'))['code']).toBe(-32602)
    })
    test('a subscription receives no log messages', async () => {
      const wire = await openProtocolClient(transport, modern)
      onTestFinished(() => wire.close())
      const meta = { [keys.logLevel]: 'debug' }
      // It ends with the connection, in the transport's own way.
      wire
        .send('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 'l', meta })
        .catch(() => {})
      await wire.received.next(methodIs('notifications/subscriptions/acknowledged'))
      resultOf(await log(wire))
      expect(levelsOf(wire)).toEqual([])
    })
  })
})

test('two connections of one server each have their own level', async () => {
  const server = createEverything()
  const quiet = await openProtocolClient('memory', '2025-11-25', { server })
  const loud = await openProtocolClient('memory', '2025-06-18', { server })
  await quiet.send('logging/setLevel', { level: 'emergency' })
  await loud.send('logging/setLevel', { level: 'debug' })
  await Promise.all([callTool(quiet, 'log'), callTool(loud, 'log')])
  expect(levelsOf(quiet)).toEqual(['emergency'])
  expect(levelsOf(loud)).toEqual([...all])
})
