/** `sluice/client` when what was agreed no longer holds: it agrees again and repeats what certainly did not run. */

import type { ServerResponse } from 'node:http'
import { connect, httpTransport } from 'sluice/client'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { Asked } from './hostile-server.ts'
import { answerTo, hostileServer, sendJson } from './hostile-server.ts'

const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } }
const refusal = ({ id }: Asked, code: number, data?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no', ...(data && { data }) } })

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

/** A legacy server with one session at a time, which a test may end. */
function legacyServer(): { respond(asked: Asked, response: ServerResponse): void; end(): void; initialized: number } {
  let session = 0
  const state = {
    initialized: 0,
    end() {
      session++
    },
    respond(asked: Asked, response: ServerResponse) {
      const { method, id } = asked
      if (method === 'initialize') {
        state.initialized++
        response.setHeader('mcp-session-id', `s${session}`)
        return sendJson(response, answerTo(asked, initialized))
      }
      if (id === undefined) return end(response, 202)
      if (method === 'GET' || method === 'DELETE') return end(response, 405)
      if (response.req.headers['mcp-session-id'] === undefined) return sendJson(response, refusal(asked, -32000), 400)
      if (response.req.headers['mcp-session-id'] !== `s${session}`) return end(response, 404)
      sendJson(response, answerTo(asked, { content: [] }))
    },
  }
  return state
}

test('a lost session is opened again, once for all requests that found out', async () => {
  const server = legacyServer()
  const client = await connect(httpTransport(await hostileServer(server.respond, true)))
  onTestFinished(() => client.close())
  await client.callTool('a')
  server.end()
  await Promise.all([1, 2, 3, 4].map(() => client.callTool('a')))
  expect(server.initialized).toBe(2)
})

test('a server that became an older one is found out', async () => {
  const old = legacyServer()
  let isOld = false
  const url = await hostileServer((asked, response) => {
    if (isOld) old.respond(asked, response)
    else if (asked.method === 'server/discover')
      sendJson(response, answerTo(asked, { supportedVersions: ['2026-07-28'], capabilities: {} }))
    else sendJson(response, answerTo(asked, { content: [] }))
  }, true)
  const client = await connect(httpTransport(url))
  onTestFinished(() => client.close())
  await client.callTool('a')
  expect(client.agreement.era).toBe('modern')
  isOld = true
  await client.callTool('a')
  expect(client.agreement.era).toBe('legacy')
})

test('an error of a tool call is not mistaken for another era', async () => {
  let calls = 0
  const url = await hostileServer((asked, response) => {
    calls++
    sendJson(response, refusal(asked, -32602), 400)
  })
  const client = await connect(httpTransport(url))
  await expect(client.callTool('a')).rejects.toMatchObject({ code: -32602 })
  expect(calls).toBe(1)
})

test('a refusal that another agreement does not change is not repeated', async () => {
  let calls = 0
  const url = await hostileServer((asked, response) => {
    calls++
    sendJson(response, refusal(asked, -32000), 400)
  })
  const client = await connect(httpTransport(url))
  await expect(client.callTool('a')).rejects.toMatchObject({ code: -32000, status: 400 })
  expect(calls).toBe(1)
})

test('headers that a tool asks for are learned from its refusal', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
  const url = await hostileServer((asked, response) => {
    if (asked.method === 'tools/list')
      return sendJson(response, answerTo(asked, { tools: [{ name: 'a', inputSchema }] }))
    const { 'mcp-param-region': region } = response.req.headers
    if (region === undefined) return sendJson(response, refusal(asked, -32020), 400)
    sendJson(response, answerTo(asked, { content: [{ type: 'text', text: region }] }))
  })
  const client = await connect(httpTransport(url))
  expect(await client.callTool('a', { region: 'Zürich' })).toMatchObject({
    content: [{ text: '=?base64?WsO8cmljaA==?=' }],
  })
})

test.each([
  ['at the root of its schema', { 'x-mcp-header': 'Region', type: 'object' }],
  ['below a keyword that is unknown', { type: 'object', unheard: { type: 'string', 'x-mcp-header': 'Region' } }],
  ['on an object', { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'Region' } } }],
])('a tool with a header mark %s is not called', async (_, inputSchema) => {
  const methods: string[] = []
  const url = await hostileServer((asked, response) => {
    methods.push(asked.method)
    sendJson(response, answerTo(asked, { tools: [{ name: 'a', inputSchema }] }))
  })
  const client = await connect(httpTransport(url))
  await client.request('tools/list', {})
  await expect(client.callTool('a')).rejects.toMatchObject({ mayHaveRun: false })
  expect(methods).not.toContain('tools/call')
})

test('a call that may have run is not repeated', async () => {
  let calls = 0
  const url = await hostileServer((_asked, response) => {
    calls++
    response.destroy()
  })
  const client = await connect(httpTransport(url))
  await expect(client.callTool('a')).rejects.toMatchObject({ mayHaveRun: true })
  expect(calls).toBe(1)
})

test.each([400, 401, 404, 405, 503])(
  'a call whose stream cannot be resumed (HTTP %i) is not repeated',
  async (status) => {
    let calls = 0
    const url = await hostileServer((asked, response) => {
      const { method, id } = asked
      if (method === 'initialize') {
        response.setHeader('mcp-session-id', 's')
        return sendJson(response, answerTo(asked, initialized))
      }
      if (method === 'GET' || id === undefined) return end(response, method === 'GET' ? status : 202)
      calls++
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nid: 1\ndata:\n\n')
    })
    const client = await connect(httpTransport(url), { era: 'legacy' })
    onTestFinished(() => client.close())
    await expect(client.callTool('a')).rejects.toMatchObject({ reason: 'closed', mayHaveRun: true })
    expect(calls).toBe(1)
  },
)

test('a stream that is resumed with every event is read as long as its server needs', async () => {
  let polls = 0
  const url = await hostileServer((asked, response) => {
    const { method, id } = asked
    if (method === 'initialize') return sendJson(response, answerTo(asked, initialized))
    if (method !== 'GET' && id === undefined) return end(response, 202)
    const { 'last-event-id': last } = response.req.headers
    if (method === 'GET' && last === undefined) return end(response, 405)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const answered = JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [] } })
    response.end(`retry: 0\nid: ${++polls}\ndata:${polls === 9 ? answered : ''}\n\n`)
  })
  const client = await connect(httpTransport(url), { era: 'legacy' })
  onTestFinished(() => client.close())
  expect(await client.callTool('a')).toEqual({ content: [] })
})

test('a standalone stream is opened again after a proxy had no server to send it to', async () => {
  const clock = fakeClock()
  let opened = 0
  const url = await hostileServer((asked, response) => {
    const { method, id } = asked
    if (method === 'initialize') return sendJson(response, answerTo(asked, initialized))
    if (method !== 'GET') return id === undefined ? end(response, 202) : sendJson(response, answerTo(asked, {}))
    if (++opened === 2) return end(response, 503)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const note = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    response.end(opened === 3 ? `data: ${JSON.stringify(note)}\n\n` : '\n')
  })
  const changed = Promise.withResolvers<string>()
  const client = await connect(httpTransport(url, { clock }), { era: 'legacy', onNotification: changed.resolve })
  onTestFinished(() => client.close())
  for (const ms of [1000, 2000]) {
    await expect.poll(() => clock.pending).toBe(1)
    await clock.advance(ms)
  }
  expect(await changed.promise).toBe('notifications/tools/list_changed')
})

test('a new handshake does not name the lost session', async () => {
  const server = legacyServer()
  const url = await hostileServer((asked, response) => {
    const { 'mcp-session-id': session } = response.req.headers
    if (asked.method === 'initialize' && session !== undefined) return end(response, 404)
    server.respond(asked, response)
  }, true)
  const client = await connect(httpTransport(url), { era: 'legacy' })
  onTestFinished(() => client.close())
  server.end()
  await client.callTool('a')
  expect(server.initialized).toBe(2)
})

test('capabilities are those of the request, and unknown members are kept', async () => {
  const result = { resultType: 'complete', future: { a: [1] }, content: [{ type: 'hologram', data: 1 }] }
  let meta: unknown
  const url = await hostileServer((asked, response) => {
    meta = asked.params['_meta']
    sendJson(response, answerTo(asked, result))
  })
  const client = await connect(httpTransport(url), { handlers: { roots: () => ({ roots: [] }) } })
  expect(await client.callTool('a')).toEqual(result)
  const key = 'io.modelcontextprotocol/clientCapabilities'
  expect(meta).toMatchObject({ [key]: { roots: {} } })
  await client.callTool('a', {}, { capabilities: { sampling: {} } })
  expect((meta as { [key: string]: unknown })[key]).toEqual({ sampling: {} })
})

test('a result is kept as long as its server says', async () => {
  const clock = fakeClock()
  let asked = 0
  const url = await hostileServer((message, response) => {
    asked++
    sendJson(response, answerTo(message, { tools: [], ttlMs: 1000, cacheScope: 'private' }))
  })
  const client = await connect(httpTransport(url), { clock })
  const list = (): Promise<unknown> => client.request('tools/list', {}, { cached: true })
  await list()
  await list()
  expect(asked).toBe(1)
  await clock.advance(1000)
  await list()
  expect(asked).toBe(2)
  await client.request('tools/list')
  expect(asked).toBe(3)
})

test('a result that its server changed while it was asked for is not kept', async () => {
  let asked = 0
  const changed = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  const url = await hostileServer((message, response) => {
    const answer = answerTo(message, { tools: [], ttlMs: 1000 })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${++asked === 1 ? `data: ${changed}\n\n` : ''}data: ${answer}\n\n`)
  })
  const client = await connect(httpTransport(url))
  for (let times = 0; times < 3; times++) await client.request('tools/list', {}, { cached: true })
  expect(asked).toBe(2)
})
