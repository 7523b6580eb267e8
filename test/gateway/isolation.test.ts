/** Callers of one upstream do not meet: neither their state, nor their ids, levels, cancellations and credentials. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Client } from 'sluice/client'
import { fromSdk, upstream } from 'sluice/gateway-node'
import { expect, test } from 'vitest'
import { clientOf, eras, servedAlone, token, withTokens } from './kit.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>): unknown =>
  (content as readonly { readonly text?: unknown }[])[0]?.text

/** A server that counts its calls, per connection. */
function counting(): McpServer {
  const server = new McpServer({ name: 'counting', version: '1' }, { capabilities: { logging: {} } })
  let calls = 0
  server.registerTool('count', { description: 'Counts' }, () => ({
    content: [{ type: 'text', text: String(++calls) }],
  }))
  return server
}

test.each(eras)('state of one caller does not reach another, for clients of %s', async (revision) => {
  const { url } = await servedAlone(fromSdk({ name: 'state', create: counting }), { use: withTokens })
  const [ann, bob] = await Promise.all([
    clientOf(url, { revision }, token('acme.ann')),
    clientOf(url, { revision }, token('acme.bob')),
  ])
  expect(textOf(await ann.callTool('count'))).toBe('1')
  expect(textOf(await ann.callTool('count'))).toBe('2')
  expect(textOf(await bob.callTool('count'))).toBe('1')
})

test('callers of the same name in two tenants are two callers', async () => {
  const { url } = await servedAlone(fromSdk({ name: 'state', create: counting }), { use: withTokens })
  const [here, there] = await Promise.all([clientOf(url, {}, token('acme.ann')), clientOf(url, {}, token('other.ann'))])
  expect(textOf(await here.callTool('count'))).toBe('1')
  expect(textOf(await there.callTool('count'))).toBe('1')
})

test('with the scope tenant, callers of one tenant share a connection, and no other tenant does', async () => {
  const { url } = await servedAlone(fromSdk({ name: 'state', scope: 'tenant', create: counting }), { use: withTokens })
  const clients = await Promise.all(['acme.ann', 'acme.bob', 'other.ann'].map((text) => clientOf(url, {}, token(text))))
  const texts: unknown[] = []
  for (const client of clients) texts.push(textOf(await client.callTool('count')))
  expect(texts).toEqual(['1', '2', '1'])
})

test('with the scope session, two sessions of one caller have a connection each', async () => {
  const { url } = await servedAlone(fromSdk({ name: 'state', scope: 'session', create: counting }), { use: withTokens })
  const revision = '2025-11-25'
  const [first, second] = await Promise.all([
    clientOf(url, { revision }, token('acme.ann')),
    clientOf(url, { revision }, token('acme.ann')),
  ])
  expect(textOf(await first.callTool('count'))).toBe('1')
  expect(textOf(await second.callTool('count'))).toBe('1')
  expect(textOf(await first.callTool('count'))).toBe('2')
})

test('a server without authentication does not start with connections per caller', async () => {
  await expect(servedAlone(fromSdk({ name: 'state', create: counting }))).rejects.toThrow(/authenticate\(\)/)
})

test('equal request ids of two clients do not collide on a shared upstream', async () => {
  const raw = await rawUpstream()
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url }))
  const clients = await Promise.all([clientOf(url), clientOf(url), clientOf(url)])
  const answers = await Promise.all(
    clients.flatMap((client, who) => [0, 1, 2].map((turn) => client.callTool('echo', { who, turn }))),
  )
  expect(answers.map(textOf)).toEqual(
    [0, 1, 2].flatMap((who) => [0, 1, 2].map((turn) => JSON.stringify({ who, turn }))),
  )
})

test.each(eras)('the log level of one client does not decide for another, for clients of %s', async (revision) => {
  const server = (): McpServer => {
    const made = new McpServer({ name: 'log', version: '1' }, { capabilities: { logging: {} } })
    made.registerTool('talk', { description: 'Logs' }, async ({ sendNotification }) => {
      for (const level of ['info', 'error'] as const)
        await sendNotification({ method: 'notifications/message', params: { level, data: level } })
      return { content: [] }
    })
    return made
  }
  const upstreamUrl = await sdkOverHttp(server)
  const { url } = await servedAlone(upstream({ name: 'log', scope: 'shared', url: upstreamUrl }))
  const heard = async (level: string): Promise<unknown[]> => {
    const levels: unknown[] = []
    const client = await clientOf(url, { revision })
    if (revision !== '2026-07-28') await client.request('logging/setLevel', { level })
    await client.request(
      'tools/call',
      { name: 'talk', arguments: {} },
      { logLevel: level, onNotification: (_, params) => levels.push(params['level']) },
    )
    return levels
  }
  const [all, few] = await Promise.all([heard('debug'), heard('error')])
  expect([all, few]).toEqual([['info', 'error'], ['error']])
})

test('cancelling one call on a shared connection does not stop another', async () => {
  const aborted: string[] = []
  let finish = (): void => {}
  const server = (): McpServer => {
    const made = new McpServer({ name: 'wait', version: '1' })
    made.registerTool('first', { description: 'Waits' }, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.push('first')
      return { content: [] }
    })
    made.registerTool('second', { description: 'Waits' }, async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.push('second'))
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return { content: [{ type: 'text', text: 'done' }] }
    })
    return made
  }
  const { url, team } = await servedAlone(fromSdk({ name: 'wait', scope: 'shared', create: server }))
  const [ann, bob] = await Promise.all([clientOf(url), clientOf(url)])
  const controller = new AbortController()
  const first = ann.callTool('first', {}, { signal: controller.signal })
  const second = bob.callTool('second')
  await expect.poll(() => team.states()[0]?.connections.find(({ key }) => key === 'shared')?.inFlight).toBe(2)
  controller.abort()
  await expect(first).rejects.toMatchObject({ reason: 'cancelled' })
  await expect.poll(() => aborted).toEqual(['first'])
  finish()
  expect(textOf(await second)).toBe('done')
  expect(aborted).toEqual(['first'])
})

test('no token, id, idempotency key or baggage of a client reaches an upstream', async () => {
  const raw = await rawUpstream()
  const { url } = await servedAlone(upstream({ name: 'raw', url: raw.url, headers: { 'x-api-key': 'operator' } }), {
    use: withTokens,
  })
  const client = await clientOf(
    url,
    {},
    { ...token('acme.ann'), 'idempotency-key': 'secret-key-1', baggage: 'user=ann' },
  )
  await client.request('tools/call', {
    name: 'echo',
    arguments: { a: 1 },
    _meta: { 'com.example/private': 'secret', 'dev.sluice/idempotencyKey': 'secret-key-1', traceparent: 'x' },
  })
  const sent = raw.requests.find(({ method }) => method === 'tools/call')
  expect(sent?.headers).toMatchObject({ 'x-api-key': 'operator' })
  expect(JSON.stringify(sent)).not.toMatch(/acme|ann|secret|private|baggage|traceparent|idempotency/)
})

test('the challenge of an upstream does not reach the client, and one 401 does not end the upstream', async () => {
  const raw = await rawUpstream()
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url }))
  let refuse = true
  raw.respond = (_, response) => {
    if (!refuse) return textResult('in')
    response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://evil.example/x"' }).end()
    return undefined
  }
  const client = await clientOf(url)
  const refused = await client.callTool('echo')
  expect(refused).toMatchObject({ isError: true, _meta: { 'dev.sluice/error': { reason: 'upstreamUnavailable' } } })
  expect(JSON.stringify(refused)).not.toContain('evil')
  refuse = false
  expect(textOf(await client.callTool('echo'))).toBe('in')
})

test('the subscriptions of one tenant do not take the connections of the calls of others', async () => {
  const raw = await rawUpstream({ resources: [{ uri: 'note://a', name: 'a' }] })
  const { url } = await servedAlone(upstream({ name: 'raw', url: raw.url }), { use: withTokens })
  const ann = await clientOf(url, {}, token('acme.ann'))
  const bob = await clientOf(url, {}, token('other.bob'))
  const resourceSubscriptions = Array.from({ length: 300 }, (_, at) => `note://${at}`)
  await ann.subscribe({ resourceSubscriptions }, { notification() {} })
  await expect.poll(() => raw.listening, { timeout: 10_000 }).toBeGreaterThanOrEqual(255)
  expect(await bob.callTool('echo', {}, { timeoutMs: 10_000 })).toMatchObject({ content: [{ text: '{}' }] })
})

test('an upstream that answers one tenant never does not delay another', async () => {
  const raw = await rawUpstream({ tools: [rawTool('echo'), rawTool('stall')] })
  const { url } = await servedAlone(upstream({ name: 'raw', url: raw.url }), { use: withTokens })
  raw.respond = ({ params }) => (params['name'] === 'stall' ? undefined : textResult('ok'))
  const [slow, quick] = await Promise.all([clientOf(url, {}, token('slow.ann')), clientOf(url, {}, token('quick.bob'))])
  const controller = new AbortController()
  const stalled = Array.from({ length: 70 }, () => slow.callTool('stall', {}, { signal: controller.signal }))
  const settled = Promise.allSettled(stalled)
  // Some are in flight and the rest is refused: one caller cannot take every connection.
  await expect.poll(() => raw.requests.filter(({ method }) => method === 'tools/call').length).toBe(64)
  expect(textOf(await quick.callTool('echo'))).toBe('ok')
  controller.abort()
  const refused = (await settled).filter(({ status }) => status === 'fulfilled')
  expect(refused).toHaveLength(6)
})

/** Serves an SDK server over HTTP, so that log messages are on the stream of their request. */
async function sdkOverHttp(create: () => McpServer): Promise<string> {
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js')
  const { createServer } = await import('node:http')
  const { randomUUID } = await import('node:crypto')
  const { onTestFinished } = await import('vitest')
  const sessions = new Map<string, InstanceType<typeof StreamableHTTPServerTransport>>()
  const http = createServer((request, response) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (typeof id === 'string' && !known) return response.writeHead(404).end()
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => {
          sessions.set(session, transport)
        },
      })
    const ready = known ? Promise.resolve() : create().connect(transport as Parameters<McpServer['connect']>[0])
    ready.then(() => transport.handleRequest(request, response)).catch(() => response.destroy())
    return response
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const address = http.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`
}
