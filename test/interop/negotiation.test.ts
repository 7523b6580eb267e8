/** Which revision a conversation uses, and that it does not change. */

import type { Server } from 'sluice'
import { serveHttp } from 'sluice/node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../packages/sluice/src/protocol/connect.ts'
import type { MessageChannel } from '../kit/clients/channel.client.ts'
import { envelope } from '../kit/clients/envelope.ts'
import { openHttp } from '../kit/clients/http.client.ts'
import { jsonHeaders, messagesOf, modernHeaders, post } from '../kit/clients/http-events.ts'
import type { Params, Transport } from '../kit/clients/protocol.client.ts'
import {
  errorOf,
  isObject,
  legacy,
  listAt,
  modern,
  objectAt,
  resultOf,
  transports,
} from '../kit/clients/protocol.client.ts'
import { openStream } from '../kit/clients/sse.client.ts'
import { openPipe } from '../kit/clients/stdio.client.ts'
import { openSocket } from '../kit/clients/websocket.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

interface Line {
  /** Sends exactly this request and returns its response. */
  ask(message: Params): Promise<Params>
  status(): number | undefined
}

function lineOf(channel: MessageChannel): Line {
  onTestFinished(() => channel.close())
  return {
    async ask(message) {
      channel.write(message)
      return { ...((await channel.received.next((line) => isObject(line) && line['id'] === message['id'])) as Params) }
    },
    status: () => undefined,
  }
}

/** A connection without any messages. */
const bare: { readonly [transport in Transport]: (server: Server) => Promise<Line> } = {
  async memory(server) {
    const connection = connect(server, { send: () => {} })
    onTestFinished(() => connection.close())
    const via = { transport: 'memory', peer: 'test', header: () => undefined, connection } as const
    return { ask: async (message) => ({ ...(await server.handle(message, { via })) }), status: () => undefined }
  },
  stdio: async (server) => lineOf(openPipe(server)),
  sse: async (server) => lineOf(await openStream(server)),
  websocket: async (server) => lineOf(await openSocket(server)),
  async http(server) {
    const { url, close } = await serveHttp(server, { port: 0 })
    onTestFinished(close)
    let session: { [header: string]: string } = {}
    let status: number | undefined
    return {
      async ask(message) {
        const isModern = JSON.stringify(message).includes(modern) && message['method'] !== 'initialize'
        const response = await post(url, message, isModern ? modernHeaders(message) : session)
        status = response.status
        const id = response.headers.get('mcp-session-id')
        if (id !== null) session = { 'mcp-session-id': id }
        for await (const answer of messagesOf(response)) if (isObject(answer)) return answer
        return {}
      },
      status: () => status,
    }
  },
}

const initialize = (params: Params, id = 1): Params => ({ jsonrpc: '2.0', id, method: 'initialize', params })
const clientInfo = { name: 'bare', version: '1' }

describe.each(transports)('over %s', (transport) => {
  const open = (): Promise<Line> => bare[transport](createEverything())

  test.each(legacy)('%s is negotiated by the client that requests it', async (protocolVersion) => {
    const { ask } = await open()
    const answer = resultOf(await ask(initialize({ protocolVersion, capabilities: {}, clientInfo })))
    expect(answer['protocolVersion']).toBe(protocolVersion)
  })
  test.each([
    ['an unknown revision', '1999-01-01', '2025-11-25'],
    ['a future revision', '2099-01-01', '2025-11-25'],
    ['2026-07-28, which has no handshake', modern, '2025-11-25'],
    ['no revision at all', undefined, '2024-11-05'],
    ['a revision that is not text', 20251125, '2025-11-25'],
  ])('a client that requests %s gets one it can use', async (_what, protocolVersion, agreed) => {
    const { ask } = await open()
    const params = { ...(protocolVersion !== undefined && { protocolVersion }), capabilities: {}, clientInfo }
    expect(resultOf(await ask(initialize(params)))['protocolVersion']).toBe(agreed)
    // And it is held to it: hints on tools came with 2025-03-26, icons with 2025-11-25.
    const tools = listAt(resultOf(await ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' })), 'tools')
    const weather = tools.find(({ name }) => name === 'weather') ?? {}
    expect('annotations' in weather).toBe(agreed !== '2024-11-05')
    expect('icons' in weather).toBe(agreed === '2025-11-25')
  })
  test('initialize in a modern envelope is an unknown method', async () => {
    const { ask, status } = await open()
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { _meta: envelope({}) } }
    // Over HTTP the headers must match; otherwise they are refused first.
    expect(errorOf(await ask(message))['code']).toBe(transport === 'http' ? -32020 : -32601)
    expect(status()).toBe(transport === 'http' ? 400 : undefined)
  })
  test('an envelope with a legacy revision is told the supported ones', async () => {
    const server = createEverything()
    const { ask, status } = await bare[transport](server)
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope({}, '2025-11-25') } }
    const error = errorOf(await ask(message))
    if (transport === 'http') expect([error['code'], status()]).toEqual([-32020, 400])
    else expect(error).toMatchObject({ code: -32022, data: { supported: [modern], requested: '2025-11-25' } })
  })
  test('server/discover does not decide the era', async () => {
    const { ask } = await open()
    const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope({}) } }
    expect(resultOf(await ask(discover))).toMatchObject({ supportedVersions: [modern], resultType: 'complete' })
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    expect(resultOf(await ask(initialize(params, 2)))['protocolVersion']).toBe('2025-06-18')
    expect(resultOf(await ask({ ...discover, id: 3 }))).toMatchObject({ supportedVersions: [modern] })
    expect(resultOf(await ask({ jsonrpc: '2.0', id: 4, method: 'ping' }))).toEqual({})
  })
  test('an envelope without a required member never counts as a legacy request', async () => {
    const { ask, status } = await open()
    for (const lost of [
      { 'io.modelcontextprotocol/clientCapabilities': undefined },
      { 'io.modelcontextprotocol/clientCapabilities': 'all' },
    ]) {
      const _meta = JSON.parse(JSON.stringify({ ...envelope({}), ...lost }))
      const error = errorOf(await ask({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }))
      expect(error['code']).toBe(-32602)
      expect(status()).toBe(transport === 'http' ? 400 : undefined)
    }
  })
})

test.each(['memory', 'stdio', 'sse', 'websocket'] as const)(
  'over %s a second handshake is refused',
  async (transport) => {
    const { ask } = await bare[transport](createEverything())
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await ask(initialize(params))
    expect(errorOf(await ask(initialize({ ...params, protocolVersion: '2024-11-05' }, 2)))['code']).toBe(-32600)
    // The first stands.
    const tools = listAt(resultOf(await ask({ jsonrpc: '2.0', id: 3, method: 'tools/list' })), 'tools')
    expect(tools.find(({ name }) => name === 'weather')).toHaveProperty('title')
  },
)

describe('the headers of HTTP', () => {
  const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope({}) } }
  const served = async (): Promise<string> => {
    const { url, close } = await serveHttp(createEverything(), { port: 0 })
    onTestFinished(close)
    return url
  }
  const refusal = async (response: Response): Promise<[number, unknown]> => [
    response.status,
    objectAt((await response.json()) as Params, 'error')['code'],
  ]

  test('initialize in a modern envelope, with its headers, is an unknown method', async () => {
    const message = { ...discover, method: 'initialize' }
    expect(await refusal(await post(await served(), message, modernHeaders(message)))).toEqual([404, -32601])
  })
  test('an unsupported version in header and body is named as such', async () => {
    const message = { ...discover, params: { _meta: envelope({}, '2031-01-01') } }
    const headers = { ...modernHeaders(message), 'mcp-protocol-version': '2031-01-01' }
    const response = await post(await served(), message, headers)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      id: 1,
      error: { code: -32022, data: { supported: [modern], requested: '2031-01-01' } },
    })
  })
  test.each([
    ['without a version', { 'mcp-method': 'server/discover' }],
    ['with another version', { 'mcp-protocol-version': '2025-11-25', 'mcp-method': 'server/discover' }],
    ['without a method', { 'mcp-protocol-version': modern }],
    ['with another method', { 'mcp-protocol-version': modern, 'mcp-method': 'tools/list' }],
  ])('a modern request %s in its headers is refused', async (_what, headers) => {
    expect(await refusal(await post(await served(), discover, headers))).toEqual([400, -32020])
  })
  test('a modern header without an envelope is a broken modern request', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    expect(await refusal(await post(await served(), message, modernHeaders(message)))).toEqual([400, -32602])
  })
  test.each([
    ['a request', 'POST', { jsonrpc: '2.0', id: 1, method: 'ping' }],
    ['a notification', 'POST', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['a response', 'POST', { jsonrpc: '2.0', id: 'sluice-1', result: {} }],
    ['a stream', 'GET', undefined],
    ['the end', 'DELETE', undefined],
  ])('%s of a session, in an unsupported version, is refused', async (_what, method, message) => {
    const wire = await openHttp(createEverything(), { revision: '2025-06-18', capabilities: {} })
    onTestFinished(() => wire.close())
    const headers = { ...jsonHeaders, ...wire.session, 'mcp-protocol-version': '1999-01-01' }
    const response = await fetch(wire.url, { method, headers, ...(message && { body: JSON.stringify(message) }) })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'unsupportedVersion' } } })
    expect(resultOf(await wire.send('ping'))).toEqual({})
  })
})
