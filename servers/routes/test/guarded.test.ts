/**
 * With keys and admission control over HTTP: the document's codes for a forbidden caller, too many requests and a full
 * server. They are those of the earlier revisions; 2026-07-28 reserves them.
 */

import { apiKeys, authenticate, memoryStore, rateLimit } from 'sluice'
import { admission, createServer, serveHttp } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { messagesOf, post } from '../../../test/kit/clients/http-events.ts'
import { openRoutes, places } from './server.fixture.ts'

interface HttpAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: unknown
}

/** Serves with a provider that answers on command. */
async function serve() {
  const clock = fakeClock(Date.parse('2026-11-16T12:00:00Z'))
  const release = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const { definition, history } = await openRoutes({
    provider: {
      ...places,
      async route(query, signal) {
        asked.resolve()
        await release.promise
        return places.route(query, signal)
      },
    },
  })
  const keys = apiKeys(memoryStore(clock), { clock })
  const server = createServer(definition, {
    clock,
    use: [authenticate({ verifiers: [keys] }), rateLimit({ burst: 2, perSecond: 0.1 }), customLayer(history.layer)],
  })
  const { url, close } = await serveHttp(server, { port: 0, admission: admission({ concurrency: 1, queue: 0 }) })
  onTestFinished(() => {
    release.resolve()
    return close()
  })
  const { secret } = await keys.create({ subject: 'claude-desktop' })
  const legacy = { 'mcp-protocol-version': '2025-11-25', authorization: `Bearer ${secret}` }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const begun = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, legacy)
  await begun.text()
  const headers = { ...legacy, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  async function call(name: string, args: object, key = secret): Promise<HttpAnswer> {
    const response = await post(
      url,
      { jsonrpc: '2.0', id: 'req-123', method: 'tools/call', params: { name, arguments: args } },
      { ...headers, authorization: `Bearer ${key}` },
    )
    const { value: body } = await messagesOf(response).next()
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
  }
  return { call, asked: asked.promise, release: () => release.resolve() }
}

test('without a key, or with an invalid one: −32001', async () => {
  const { call } = await serve()
  for (const key of ['', `sk_${'0'.repeat(48)}`])
    expect(await call('geocode_address', { address: 'Huế' }, key)).toMatchObject({
      status: 401,
      body: { id: 'req-123', error: { code: -32001, message: 'Authentication required' } },
    })
  expect(await call('geocode_address', { address: 'Huế' })).toMatchObject({ status: 200 })
})

test('a full server: −32000, and when to retry', async () => {
  const { call, asked, release } = await serve()
  const first = call('calculate_route', { origin: 'Hanoi', destination: 'Ho Chi Minh City' })
  await asked
  const second = await call('geocode_address', { address: 'Huế' })
  expect(second).toMatchObject({ status: 503, body: { error: { code: -32000 } } })
  expect(Number(second.retryAfter)).toBeGreaterThan(0)
  release()
  expect(await first).toMatchObject({ status: 200, body: { id: 'req-123', result: { isError: false } } })
})

test('too many requests: −32000 with the time until the next', async () => {
  const { call } = await serve()
  for (let n = 0; n < 2; n++) await call('geocode_address', { address: 'Huế' })
  expect(await call('geocode_address', { address: 'Huế' })).toMatchObject({
    body: { error: { code: -32000, data: { retryAfterMs: 10_000 } } },
  })
})
