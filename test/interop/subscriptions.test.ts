/** Change notifications reach every subscriber exactly once, and no other client. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { keys } from '../kit/clients/envelope.ts'
import type { Id, Params, ProtocolClient } from '../kit/clients/protocol.client.ts'
import {
  callTool,
  isObject,
  legacy,
  methodIs,
  modern,
  objectAt,
  openProtocolClient,
  resultOf,
  transports,
} from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const acknowledged = 'notifications/subscriptions/acknowledged'
const updated = 'notifications/resources/updated'
const changed = (list: string): string => `notifications/${list}/list_changed`
const subscriptionOf = (message: Params): unknown => objectAt(objectAt(message, 'params'), '_meta')[keys.subscription]
const touch = (wire: ProtocolClient, uri: string): Promise<Params | null> => callTool(wire, 'touch', { uri })
const change = (wire: ProtocolClient, list: string): Promise<Params | null> => callTool(wire, 'change', { list })

describe.each(transports)(`${modern} over %s`, (transport) => {
  async function wired(): Promise<ProtocolClient> {
    const wire = await openProtocolClient(transport, modern)
    onTestFinished(() => wire.close())
    return wire
  }
  async function listen(
    wire: ProtocolClient,
    id: Id,
    notifications: Params,
  ): Promise<{ honoured: unknown; answer: Promise<Params | null> }> {
    const answer = wire.send('subscriptions/listen', { notifications }, { id })
    const first = await wire.received.next((message) => isObject(message['params']) && subscriptionOf(message) === id)
    expect(first['method']).toBe(acknowledged)
    return { honoured: objectAt(first, 'params')['notifications'], answer }
  }
  const heardBy = (wire: ProtocolClient, id: Id): readonly unknown[] =>
    wire.received.all.filter((message) => subscriptionOf(message) === id).map(({ method }) => method)

  test.each(['by-text', 17])(
    'the acknowledgement comes first, and every notification names the subscription (%s)',
    async (id) => {
      const wire = await wired()
      const { honoured } = await listen(wire, id, { toolsListChanged: true, resourceSubscriptions: ['note://watched'] })
      expect(honoured).toEqual({ toolsListChanged: true, resourceSubscriptions: ['note://watched'] })
      await change(wire, 'tools')
      await touch(wire, 'note://watched')
      await wire.received.next(methodIs(updated))
      expect(wire.received.all).toEqual([
        {
          jsonrpc: '2.0',
          method: acknowledged,
          params: { notifications: honoured, _meta: { [keys.subscription]: id } },
        },
        { jsonrpc: '2.0', method: changed('tools'), params: { _meta: { [keys.subscription]: id } } },
        { jsonrpc: '2.0', method: updated, params: { uri: 'note://watched', _meta: { [keys.subscription]: id } } },
      ])
    },
  )
  test('a change without a subscription is not received', async () => {
    const wire = await wired()
    await listen(wire, 'l', { promptsListChanged: true, toolsListChanged: false, resourceSubscriptions: [] })
    await change(wire, 'tools')
    await change(wire, 'resources')
    await touch(wire, 'note://watched')
    await change(wire, 'prompts')
    await wire.received.next(methodIs(changed('prompts')))
    expect(heardBy(wire, 'l')).toEqual([acknowledged, changed('prompts')])
  })
  test('unsupported subscriptions are left out of the acknowledgement', async () => {
    const wire = await wired()
    const { honoured } = await listen(wire, 'l', { toolsListChanged: true, taskIds: ['x'], moonPhases: true })
    expect(honoured).toEqual({ toolsListChanged: true })
  })
  test('two subscriptions of one client each get their own copy', async () => {
    const wire = await wired()
    await listen(wire, 'one', { toolsListChanged: true, promptsListChanged: true })
    await listen(wire, 'two', { toolsListChanged: true })
    await change(wire, 'tools')
    await change(wire, 'prompts')
    await wire.received.next(methodIs(changed('prompts')))
    await wire.received.next((message) => message['method'] === changed('tools') && subscriptionOf(message) === 'two')
    expect(heardBy(wire, 'one')).toEqual([acknowledged, changed('tools'), changed('prompts')])
    expect(heardBy(wire, 'two')).toEqual([acknowledged, changed('tools')])
  })
  test('a cancelled one receives nothing more, the other continues', async () => {
    const wire = await wired()
    const one = await listen(wire, 'one', { toolsListChanged: true })
    await listen(wire, 'two', { toolsListChanged: true })
    await wire.cancel('one')
    expect(await one.answer).toBeNull()
    await change(wire, 'tools')
    await wire.received.next(methodIs(changed('tools')))
    expect(heardBy(wire, 'one')).toEqual([acknowledged])
    expect(heardBy(wire, 'two')).toEqual([acknowledged, changed('tools')])
  })
  test('when the server ends it, it sends a result', async () => {
    const wire = await openProtocolClient(transport, modern)
    const { answer } = await listen(wire, 'l', { toolsListChanged: true })
    await wire.server.close()
    expect(resultOf(await answer)).toMatchObject({ resultType: 'complete', _meta: { [keys.subscription]: 'l' } })
    // On a shared channel it is also cancelled; elsewhere its own stream ends.
    const cancelled = methodIs('notifications/cancelled')
    if (transport !== 'http' && transport !== 'memory')
      expect(await wire.received.next(cancelled)).toMatchObject({ params: { requestId: 'l' } })
    await wire.close()
    expect(wire.received.all.filter(cancelled)).toHaveLength(transport === 'http' || transport === 'memory' ? 0 : 1)
  })
  test('an invalid filter is refused before anything is received', async () => {
    const wire = await wired()
    for (const notifications of [
      undefined,
      7,
      { resourceSubscriptions: 'note://watched' },
      { resourceSubscriptions: [7] },
    ]) {
      const response = await wire.send('subscriptions/listen', notifications === undefined ? {} : { notifications })
      expect(response).toMatchObject({ error: { code: -32602 } })
    }
    expect(wire.received.all).toEqual([])
  })
  test('an unchanged definition notifies no client', async () => {
    const wire = await wired()
    await listen(wire, 'l', { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true })
    await change(wire, 'resources')
    await wire.received.next(methodIs(changed('resources')))
    expect(heardBy(wire, 'l')).toEqual([acknowledged, changed('resources')])
  })
})

describe.each(transports)('the earlier revisions over %s', (transport) => {
  describe.each(legacy)('%s', (revision) => {
    async function wired(): Promise<ProtocolClient> {
      const wire = await openProtocolClient(transport, revision)
      onTestFinished(() => wire.close())
      return wire
    }
    test('a changed list is received exactly once, without a subscription', async () => {
      const wire = await wired()
      for (const list of ['tools', 'prompts', 'resources']) await change(wire, list)
      await wire.received.next(methodIs(changed('resources')))
      expect(wire.received.all).toEqual(
        ['tools', 'prompts', 'resources'].map((list) => ({ jsonrpc: '2.0', method: changed(list), params: {} })),
      )
    })
    test('a resource is received while it is subscribed to', async () => {
      const wire = await wired()
      await touch(wire, 'note://watched')
      expect(resultOf(await wire.send('resources/subscribe', { uri: 'note://watched' }))).toEqual({})
      // Subscribing twice counts once.
      expect(resultOf(await wire.send('resources/subscribe', { uri: 'note://watched' }))).toEqual({})
      await touch(wire, 'note://text')
      await touch(wire, 'note://watched')
      await wire.received.next(methodIs(updated))
      expect(resultOf(await wire.send('resources/unsubscribe', { uri: 'note://watched' }))).toEqual({})
      await touch(wire, 'note://watched')
      await change(wire, 'tools')
      await wire.received.next(methodIs(changed('tools')))
      expect(wire.received.all).toEqual([
        { jsonrpc: '2.0', method: updated, params: { uri: 'note://watched' } },
        { jsonrpc: '2.0', method: changed('tools'), params: {} },
      ])
    })
  })
})

test('one change reaches every client, each in its own form', async () => {
  const server = createEverything()
  const wires = await Promise.all(
    [...legacy, modern].map((revision) => openProtocolClient('memory', revision as typeof modern, { server })),
  )
  const newest = wires.at(-1)
  newest
    ?.send('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: 'l' })
    .catch(expect.unreachable)
  await newest?.received.next(methodIs(acknowledged))
  server.resourceUpdated('note://nobody-listens')
  await newest?.send('tools/call', { name: 'change', arguments: { list: 'tools' } })
  for (const { received } of wires) {
    await received.next(methodIs(changed('tools')))
    expect(received.all.filter(methodIs(changed('tools')))).toHaveLength(1)
    expect(received.all.filter(methodIs(updated))).toHaveLength(0)
  }
})
