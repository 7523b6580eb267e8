/** Which methods exist in which revision, and how missing ones are refused. */

import { defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Id, Params, ProtocolClient } from '../kit/clients/protocol.client.ts'
import {
  callTool,
  errorOf,
  isObject,
  legacy,
  matrix,
  modern,
  openProtocolClient,
  resultOf,
} from '../kit/clients/protocol.client.ts'

/** With valid parameters, so that only the method itself can be refused. */
const everywhere: readonly [method: string, params: Params][] = [
  ['tools/list', {}],
  ['tools/call', { name: 'say', arguments: { text: 'x' } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'note://text' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'short' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'tone', value: '' } }],
]
const legacyOnly: readonly [method: string, params: Params][] = [
  ['ping', {}],
  ['logging/setLevel', { level: 'error' }],
  ['resources/subscribe', { uri: 'note://watched' }],
  ['resources/unsubscribe', { uri: 'note://watched' }],
]
const nowhere: readonly [method: string, params: Params][] = [
  ['tasks/list', {}],
  ['tasks/get', { taskId: 'x' }],
  ['skills/list', {}],
  ['authenticate', {}],
  ['roots/list', {}],
  ['sampling/createMessage', {}],
  ['elicitation/create', {}],
  ['toString', {}],
  ['__proto__', {}],
]

describe.each(matrix)('$revision over $transport', ({ transport, revision }) => {
  let wire: ProtocolClient
  beforeAll(async () => {
    wire = await openProtocolClient(transport, revision)
  })
  afterAll(() => wire.close())
  const statusOf = (): number | undefined =>
    'last' in wire && wire.last instanceof Response ? wire.last.status : undefined

  const isRefused = async (method: string, params: Params): Promise<void> => {
    expect(errorOf(await wire.send(method, params))).toMatchObject({ code: -32601, data: { reason: 'methodNotFound' } })
    expect(statusOf()).toBe(transport === 'http' ? (revision === modern ? 404 : 200) : undefined)
  }

  test.each(everywhere)('%s is served', async (method, params) => {
    expect(isObject(resultOf(await wire.send(method, params)))).toBe(true)
  })
  test.each(legacyOnly)('%s exists before 2026-07-28', async (method, params) => {
    if (revision === modern) await isRefused(method, params)
    else expect(resultOf(await wire.send(method, params))).toEqual({})
  })
  test('server/discover exists from 2026-07-28 on', async () => {
    if (revision !== modern) return isRefused('server/discover', {})
    expect(resultOf(await wire.send('server/discover'))).toMatchObject({
      resultType: 'complete',
      supportedVersions: [modern],
      ttlMs: 0,
      cacheScope: 'public',
    })
  })
  test('subscriptions/listen exists from 2026-07-28 on', async () => {
    const params = { notifications: { toolsListChanged: true } }
    if (revision !== modern) return isRefused('subscriptions/listen', params)
    const listening = wire.send('subscriptions/listen', params, { id: 'listening' })
    await wire.received.next(({ method }) => method === 'notifications/subscriptions/acknowledged')
    await wire.cancel('listening')
    await listening
  })
  test.each(nowhere)('%s exists nowhere', isRefused)

  test('a missing resource has the code of its revision', async () => {
    for (const uri of ['note://nowhere', 'note://gone', 'note://2026/nothing'])
      expect(errorOf(await wire.send('resources/read', { uri }))).toMatchObject({
        code: revision === modern ? -32602 : -32002,
        message: 'Resource not found',
        data: { uri },
      })
  })
  test('an unknown tool, prompt or reference, and a missing argument, are invalid parameters', async () => {
    const refused: readonly [string, Params][] = [
      ['tools/call', { name: 'nothing' }],
      ['tools/call', {}],
      ['prompts/get', { name: 'nothing' }],
      ['prompts/get', { name: 'greet' }],
      ['resources/read', {}],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'nothing' }, argument: { name: 'a', value: '' } }],
      ['completion/complete', { ref: { type: 'ref/else' }, argument: { name: 'a', value: '' } }],
    ]
    for (const [method, params] of refused)
      expect([method, errorOf(await wire.send(method, params))['code']]).toEqual([method, -32602])
  })
  test('arguments that fail the schema are a result of the tool', async () => {
    const result = resultOf(await callTool(wire, 'say', { text: 5 }))
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('text') }] })
  })
  test('a cancelled call has no answer, and its tool is notified', async () => {
    const call = wire.send(
      'tools/call',
      { name: 'slow', arguments: { key: 'k' } },
      { id: 'slow', meta: { progressToken: 7 } },
    )
    await wire.received.next(({ method }) => method === 'notifications/progress')
    await wire.cancel('slow')
    expect(resultOf(await callTool(wire, 'ended', { key: 'k' }))).toMatchObject({ content: [{ text: 'aborted k' }] })
    expect(await call).toBeNull()
  })
  test('an id is in use while its call runs, on one connection; text and number are two ids', async () => {
    const slow = (id: Id, key: string): Promise<Params | null> =>
      wire.send('tools/call', { name: 'slow', arguments: { key } }, { id, meta: { progressToken: key } })
    const began = (token: string): Promise<Params> =>
      wire.received.next(
        ({ method, params }) =>
          method === 'notifications/progress' && isObject(params) && params['progressToken'] === token,
      )
    const calls = [slow(1000, 'number'), slow('1000', 'text')]
    await Promise.all(['number', 'text'].map(began))
    // 2026-07-28 has no connection over HTTP: there two clients may well use the same id at once.
    const again = await wire.send('tools/list', {}, { id: 1000 })
    if ((transport !== 'http' && transport !== 'memory') || revision !== modern)
      expect(errorOf(again)['code']).toBe(-32600)
    else expect(resultOf(again)).toHaveProperty('tools')
    await wire.cancel(1000)
    await wire.cancel('1000')
    for (const key of ['number', 'text']) await callTool(wire, 'ended', { key })
    await Promise.all(calls)
    expect(resultOf(await wire.send('tools/list', {}, { id: 1000 }))).toHaveProperty('tools')
  })
  test('notifications get no answer, whatever they are', async () => {
    for (const method of ['notifications/roots/list_changed', 'notifications/nothing', 'notifications/initialized']) {
      await wire.notify(method)
      expect(statusOf()).toBe(transport === 'http' ? 202 : undefined)
    }
    // A request without an id would have an effect without an answer, so it does nothing.
    const heard = wire.received.all.length
    await wire.notify('tools/call', { name: 'change', arguments: { list: 'tools' } })
    expect(statusOf()).toBe(transport === 'http' ? 400 : undefined)
    await wire.send('tools/list')
    expect(wire.received.all).toHaveLength(heard)
  })
  test('a cancellation of a call that is not running is ignored', async () => {
    await wire.cancel('never')
    await wire.notify('notifications/cancelled', {})
    expect(resultOf(await wire.send('tools/list'))).toHaveProperty('tools')
  })
})

describe.each([...legacy, modern] as const)('a server with one tool, on %s', (revision) => {
  const small = (): ReturnType<typeof createServer> =>
    createServer(
      defineServer({
        name: 'small',
        version: '1',
        tools: [tool({ name: 'only', description: 'The only one', run: () => 'x' })],
      }),
    )
  test.each([
    'resources/list',
    'prompts/list',
    'resources/read',
    'prompts/get',
    'completion/complete',
    'resources/subscribe',
  ])('%s does not exist, because its capability was not declared', async (method) => {
    const wire = await openProtocolClient('memory', revision, { server: small() })
    expect(wire.handshake['capabilities']).toEqual({ tools: { listChanged: true }, logging: {} })
    expect(errorOf(await wire.send(method))['code']).toBe(-32601)
  })
})
