/** HTTP+SSE (2024-11-05) as its clients use it: the official one, and raw requests for what that one hides. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { authenticate } from 'sluice'
import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { RawHttp } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead } from '../kit/clients/raw-http.client.ts'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import type { AttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

type ServerOptions = Parameters<typeof createAttackedServer>[0]
const serve = async (
  runtime?: ServerOptions,
): Promise<AttackedServer & { readonly serving: HttpServing; readonly port: number }> => {
  const all = createAttackedServer(runtime)
  const serving = await serveHttp(all.server, { port: 0, sse: sse() })
  onTestFinished(() => serving.close())
  return { ...all, serving, port: Number(new URL(serving.url).port) }
}
const open = async (port: number, headers: { readonly [name: string]: string } = {}): Promise<RawHttp> => {
  const http = await rawHttp(port)
  onTestFinished(http.destroy)
  http.write(
    requestHead(
      { host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...headers },
      { method: 'GET', path: '/sse' },
    ),
  )
  return http
}
const endpointOf = async (stream: RawHttp): Promise<string> =>
  /data: (\S+)/.exec(await stream.seen(/event: endpoint\ndata: \S+\n\n/))?.[1] ?? ''
const post = (port: number, path: string, message: unknown, headers: { readonly [name: string]: string } = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  })

test('the official client of 2024-11-05 is served beside Streamable HTTP, on one port', async () => {
  const { port } = await serve()
  const client = new Client({ name: 'old', version: '1' })
  await client.connect(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)))
  onTestFinished(() => client.close())
  expect(client.getServerVersion()).toMatchObject({ name: 'attacked' })
  const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
  expect(result.content).toEqual([{ type: 'text', text: 'hello' }])
})

test('the endpoint is a relative URI beside the stream, and names the session', async () => {
  const { port } = await serve()
  const endpoint = await endpointOf(await open(port))
  expect(endpoint).toMatch(/^\/messages\?sessionId=sse-[0-9a-f]{32}$/)
})

test('a message is accepted with 202, and answered on the stream', async () => {
  const { port } = await serve()
  const stream = await open(port)
  const endpoint = await endpointOf(stream)
  const response = await post(port, endpoint, initialize('2024-11-05'))
  expect(response.status).toBe(202)
  await stream.seen(/"protocolVersion":"2024-11-05"/)
  expect((await post(port, endpoint, request(7, 'ping'))).status).toBe(202)
  await stream.seen(/"id":7,"result":{}/)
})

test('a session ends with its stream, and its calls with it', async () => {
  const { port, runs } = await serve()
  const stream = await open(port)
  const endpoint = await endpointOf(stream)
  await post(port, endpoint, initialize('2024-11-05'))
  await post(port, endpoint, request(1, 'tools/call', { name: 'wait', arguments: {} }))
  await expect.poll(() => runs.get('wait')).toBe(1)
  stream.destroy()
  await expect.poll(() => runs.get('wait stopped')).toBe(1)
  expect((await post(port, endpoint, request(2, 'ping'))).status).toBe(404)
})

test('an id of one transport is unknown to the other', async () => {
  const { port } = await serve()
  const sseId = (await endpointOf(await open(port))).split('=')[1] ?? ''
  const begun = await post(port, '/mcp', initialize())
  const mcpId = begun.headers.get('mcp-session-id') ?? ''
  expect((await post(port, '/mcp', request(1, 'ping'), { 'mcp-session-id': sseId })).status).toBe(404)
  expect((await post(port, `/messages?sessionId=${mcpId}`, request(1, 'ping'))).status).toBe(404)
  expect((await post(port, '/messages', request(1, 'ping'))).status).toBe(400)
})

test('credentials are required with every message, and a session belongs to its opener', async () => {
  const { port, runs } = await serve({ use: [authenticate({ verifiers: [verifier] })] })
  const refused = await fetch(`http://127.0.0.1:${port}/sse`, { headers: { accept: 'text/event-stream' } })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/)
  const stream = await open(port, { authorization: 'Bearer good-ann' })
  const endpoint = await endpointOf(stream)
  const call = request(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } })
  expect((await post(port, endpoint, call)).status).toBe(401)
  expect((await post(port, endpoint, call, { authorization: 'Bearer bad' })).status).toBe(401)
  expect((await post(port, endpoint, call, { authorization: 'Bearer good-bob' })).status).toBe(404)
  expect(runs.get('echo')).toBeUndefined()
  expect((await post(port, endpoint, call, { authorization: 'Bearer good-ann' })).status).toBe(202)
  await stream.seen(/"text":"a"/)
})

test('a stream ends with its credential', async () => {
  const clock = fakeClock()
  const { port } = await serve({ clock, use: [authenticate({ verifiers: [verifier] })] })
  const stream = await open(port, { authorization: `Bearer good-ann-${clock.now() + 5_000}` })
  await endpointOf(stream)
  await clock.advance(5_000)
  await stream.next()
})

test('an id that is almost right is unknown, and nothing runs', async () => {
  const { port, runs } = await serve()
  const stream = await open(port)
  const endpoint = await endpointOf(stream)
  const id = endpoint.split('=')[1] ?? ''
  const call = request(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } })
  const wrong = [
    ...[id.toUpperCase(), id.slice(0, -1), `${id}0`, id.slice(4), `sse-${'0'.repeat(32)}`, 'sse-', '*', '..%2f'],
    ...['__proto__', 'constructor', 'undefined', 'null', `${id}%00`, `%20${id}`, `${id},${id}`, `mcp-${id.slice(4)}`],
  ]
  for (const each of wrong)
    expect([each, (await post(port, `/messages?sessionId=${each}`, call)).status]).toEqual([each, 404])
  // The address names the session; a header of the other transport has no effect here.
  expect((await post(port, '/messages', call, { 'mcp-session-id': id })).status).toBe(400)
  expect(runs.get('echo')).toBeUndefined()
  expect((await post(port, `${endpoint}&sessionId=other`, request(2, 'ping'))).status).toBe(202)
})
