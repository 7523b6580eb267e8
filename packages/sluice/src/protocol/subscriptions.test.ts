import { expect, test, vi } from 'vitest'
import { anonymous } from '../core/call.ts'
import type { Params } from '../core/json.ts'
import { createServer } from '../node.ts'
import { authenticate } from '../plugins/authenticate.ts'
import { tenants } from '../plugins/tenants.ts'
import { testClient } from '../testing/client.ts'
import { settle } from '../testing/clock.ts'
import { connect } from './connect.ts'
import type { ServerDefinition } from './definition.ts'
import { defineServer } from './definition.ts'
import { prompt } from './prompts.ts'
import { resource } from './resources.ts'
import { metaKeys } from './revisions.ts'
import { tool } from './tools.ts'

const touch = tool({
  name: 'touch',
  description: 'Changes a resource',
  run(_, { resourceUpdated }) {
    resourceUpdated('note:1')
    return 'done'
  },
})
const small = (description: string): ServerDefinition =>
  defineServer({
    name: 'x',
    version: '1',
    tools: [touch, tool({ name: 't', description, run: () => 'x' })],
    resources: [resource({ uri: 'note:1', name: 'one', read: () => 'x' })],
    prompts: [prompt({ name: 'p', description: 'P', run: () => 'x' })],
  })
const changed: ServerDefinition = defineServer({
  ...small('B'),
  prompts: [prompt({ name: 'q', description: 'Q', run: () => 'x' })],
  resources: [],
})
const methods = (received: readonly Params[]): unknown[] => received.map(({ method }) => method)
const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

test('a subscription is acknowledged first, gets the notifications it requested, and ends with the server', async () => {
  const server = createServer(small('A'))
  const client = await testClient(server)
  const asked = { ...all, resourceSubscriptions: ['note:1'] }
  const listening = client.send('subscriptions/listen', { notifications: asked }, 'sub')
  await client.call('touch')
  server.resourceUpdated('note:2')
  server.update(changed)
  await server.close()
  expect(await listening).toMatchObject({
    id: 'sub',
    result: { resultType: 'complete', _meta: { [metaKeys.subscription]: 'sub' } },
  })
  expect(client.received[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: asked },
  })
  expect(methods(client.received).slice(1)).toEqual([
    'notifications/resources/updated',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
  ])
  for (const { params } of client.received) expect(params).toMatchObject({ _meta: { [metaKeys.subscription]: 'sub' } })
})

test('changes that were not requested, or of missing resources, are not sent', async () => {
  const bare = createServer(defineServer({ name: 'x', version: '1' }))
  const client = await testClient(bare)
  const listening = { notifications: { ...all, resourceSubscriptions: ['note:1'] } }
  client.send('subscriptions/listen', listening).catch(expect.unreachable)
  await settle()
  expect(client.received[0]).toMatchObject({ params: { notifications: { toolsListChanged: true } } })
  bare.resourceUpdated('note:1')
  bare.update(small('A'))
  expect(methods(client.received).slice(1)).toEqual(['notifications/tools/list_changed'])
})

test('an update without changes sends no notification', async () => {
  const server = createServer(small('A'))
  const client = await testClient(server, { revision: '2025-06-18' })
  server.update(small('A'))
  expect(client.received).toEqual([])
  server.update(small('B'))
  expect(methods(client.received)).toEqual(['notifications/tools/list_changed'])
})

test('a legacy client is notified of every list change, and of the resources it subscribed to', async () => {
  const server = createServer(small('A'))
  const client = await testClient(server, { revision: '2025-11-25' })
  await client.call('touch')
  await client.request('resources/subscribe', { uri: 'note:1' })
  await client.call('touch')
  await client.request('resources/unsubscribe', { uri: 'note:1' })
  await client.call('touch')
  expect(methods(client.received)).toEqual(['notifications/resources/updated'])
  client.close()
  server.resourceUpdated('note:1')
  expect(client.received).toHaveLength(1)
  expect(await client.send('resources/subscribe', {})).toMatchObject({ error: { code: -32602 } })
})

test('subscriptions on one connection are limited', async () => {
  const many = { ...small('A'), resources: [resource({ uri: 'note:{id}', name: 'any', read: () => 'x' })] }
  const client = await testClient(many, { revision: '2025-11-25' })
  for (let i = 0; i < 1000; i++) await client.request('resources/subscribe', { uri: `note:${i}` })
  expect(await client.send('resources/subscribe', { uri: 'note:one-more' })).toMatchObject({ error: { code: -32000 } })
})

/** Authenticates every caller by a token that is also its scope. */
const byScope = {
  verify: async (token: string) => ({ ...anonymous, subject: token, credential: token, scopes: new Set([token]) }),
}
const note = (uri: string, more: { scopes?: string[]; listed?: boolean } = {}) =>
  resource({ uri, name: uri, read: () => 'x', ...more })
const scoped = (): ReturnType<typeof createServer> =>
  createServer(
    defineServer({
      name: 'x',
      version: '1',
      resources: [
        note('note:open'),
        note('note:secret', { scopes: ['secret'] }),
        note('note:{id}/secret', { scopes: ['secret'] }),
        note('note:listed', { scopes: ['secret'], listed: true }),
      ],
    }),
    { use: [authenticate({ verifiers: [byScope] })] },
  )
const uris = ['note:open', 'note:secret', 'note:1/secret', 'note:listed', 'note:nowhere']

test('a caller that may not read a resource is not notified of it, and cannot tell it from a missing one', async () => {
  const server = scoped()
  const _meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }
  const asked = { notifications: { resourceSubscriptions: uris }, _meta }
  const received: { [who: string]: { params: Params }[] } = { guest: [], secret: [] }
  for (const [who, messages] of Object.entries(received))
    server
      .handle(
        { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: asked },
        {
          via: { transport: 'memory', peer: '', header: (name) => (name === 'authorization' ? `Bearer ${who}` : '') },
          send: (message) => {
            messages.push(message as { params: Params })
          },
        },
      )
      .catch(expect.unreachable)
  await settle()
  for (const uri of uris) server.resourceUpdated(uri)
  const [guest = [], secret = []] = [received['guest'], received['secret']]
  expect(guest[0]?.params).toMatchObject({ notifications: { resourceSubscriptions: ['note:open'] } })
  expect(guest.slice(1).map(({ params }) => params['uri'])).toEqual(['note:open'])
  expect(secret.slice(1).map(({ params }) => params['uri'])).toEqual(uris.slice(0, 4))
})

test('a legacy client is refused such a subscription like one to a missing resource', async () => {
  const server = scoped()
  const received: object[] = []
  const connection = connect(server, { send: (sent) => received.push(sent) })
  const via = { transport: 'memory', peer: '', connection } as const
  const say = async (id: number, method: string, params: Params): Promise<Params> => {
    const header = (name: string) => (name === 'authorization' ? 'Bearer guest' : undefined)
    return { ...(await server.handle({ jsonrpc: '2.0', id, method, params }, { via: { ...via, header } })) }
  }
  await say(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} })
  const refused = await Promise.all(uris.map((uri, id) => say(id, 'resources/subscribe', { uri })))
  const withoutName = refused.map((each, id) => JSON.stringify(each).replaceAll(uris[id] ?? '', 'URI'))
  const plain = withoutName.map((text) => text.replace(/"id":\d/, '').replace(/"reference":"[^"]*"/, ''))
  expect(refused[0]).toMatchObject({ result: {} })
  expect(plain[1]).toContain('Resource not found')
  expect(plain[2]).toBe(plain[1])
  expect(plain[4]).toBe(plain[1])
  expect(refused[3]).toMatchObject({ error: { data: { reason: 'insufficientScope', scopes: ['secret'] } } })
  for (const uri of uris) server.resourceUpdated(uri)
  expect(received).toEqual([
    { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note:open' } },
  ])
  expect(await say(9, 'resources/unsubscribe', { uri: 'note:nowhere' })).toMatchObject({ result: {} })
})

test.each([
  {},
  { notifications: 5 },
  { notifications: { resourceSubscriptions: 'x' } },
  { notifications: { resourceSubscriptions: [5] } },
  { notifications: { resourceSubscriptions: Array(1001).fill('a:b') } },
])('a subscription to %.60j is refused', async (params) => {
  const client = await testClient(small('A'))
  expect(await client.send('subscriptions/listen', params)).toMatchObject({ error: { code: -32602 } })
  expect(client.received).toEqual([])
})

test('without a stream, a subscription is refused at once', async () => {
  const server = createServer(small('A'))
  const _meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }
  const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: all, _meta } }
  expect(await server.handle(message)).toMatchObject({ error: { code: 40600 } })
})

test('a client that cancels gets no answer and no further notifications', async () => {
  const server = createServer(small('A'))
  const client = await testClient(server)
  const controller = new AbortController()
  const _meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }
  const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: all, _meta } }
  const received: object[] = []
  const listening = server.handle(message, { signal: controller.signal, send: (sent) => received.push(sent) })
  controller.abort()
  expect(await listening).toBeNull()
  server.update(changed)
  expect(received).toHaveLength(1)
  client.close()
})

test('a bad definition leaves the old one in place', async () => {
  const server = createServer(small('A'))
  expect(() => server.update({ ...small('A'), tools: [touch, touch] })).toThrow('defined twice')
  const client = await testClient(server)
  expect(await client.call('touch')).toMatchObject({ isError: false })
})

test('a tenant is not notified of another tenant’s changes', async () => {
  const byToken = {
    verify: async (token: string) => ({ ...anonymous, subject: token, credential: token, claims: { org: token } }),
  }
  const server = createServer(small('A'), { use: [authenticate({ verifiers: [byToken] }), tenants({ claim: 'org' })] })
  const _meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }
  const as = (who: string, received: object[]): Parameters<typeof server.handle>[1] => ({
    via: { transport: 'memory', peer: '', header: (name) => (name === 'authorization' ? `Bearer ${who}` : undefined) },
    send: (message) => {
      received.push(message)
    },
  })
  const received: { [who: string]: object[] } = { ann: [], bob: [] }
  const asked = { notifications: { resourceSubscriptions: ['note:1'] }, _meta }
  for (const who of ['ann', 'bob'])
    server
      .handle({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: asked }, as(who, received[who] ?? []))
      .catch(expect.unreachable)
  await settle()
  await server.handle({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'touch', _meta } }, as('ann', []))
  expect([received['ann']?.length, received['bob']?.length]).toEqual([2, 1])
  server.resourceUpdated('note:1')
  expect([received['ann']?.length, received['bob']?.length]).toEqual([3, 2])
})

test('the memory of subscriptions is bounded, for one and for the whole process', async () => {
  const server = createServer(small('A'))
  const listen = (uris: readonly string[], more: Params = {}): Promise<Params | null> =>
    testClient(server).then((client) =>
      client.send('subscriptions/listen', { notifications: { resourceSubscriptions: uris }, ...more }),
    )
  const uris = Array.from({ length: 20 }, (_, i) => `note:${i}${'x'.repeat(3_900)}`)
  const tooLong = { error: { code: -32602 } }
  expect(await listen(uris)).toMatchObject(tooLong)
  expect(await listen([], { junk: 'x'.repeat(100_000) })).toMatchObject(tooLong)
  let refused = 0
  for (let i = 0; i < 300; i++)
    listen(uris.slice(0, 15)).then((answer) => {
      if (answer && 'error' in answer) refused++
    }, expect.unreachable)
  await vi.waitFor(() => expect(refused).toBeGreaterThan(50))
  expect(refused).toBeLessThan(150)
  await server.close()
})
