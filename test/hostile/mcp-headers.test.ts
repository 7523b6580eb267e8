/** 2026-07-28 over HTTP: headers that repeat the body, versions, methods, batches. */

import type { Params } from 'sluice'
import { serveHttp } from 'sluice/node'
import { describe, expect, test } from 'vitest'
import type { RawResponse } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead } from '../kit/clients/raw-http.client.ts'
import {
  callOf,
  envelope,
  headersFor,
  initialize,
  modern,
  modernRequest,
  request,
} from '../kit/clients/valid-messages.ts'
import { serveAttacked } from '../kit/servers/attacked-endpoint.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

const { runs, port, post } = await serveAttacked()
const codeOf = ({ body }: RawResponse): unknown => (JSON.parse(body) as { error?: { code?: unknown } }).error?.code
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

describe('headers that repeat the body', () => {
  const call = callOf(1, 'echo', { text: 'a' })
  const right = headersFor(call)

  test.each([
    ['Mcp-Method of another method', { 'mcp-method': 'tools/list' }],
    ['Mcp-Method in capitals', { 'mcp-method': 'TOOLS/CALL' }],
    ['Mcp-Method that is longer', { 'mcp-method': 'tools/call2' }],
    ['Mcp-Method twice', { 'mcp-method': 'tools/call, tools/call' }],
    ['Mcp-Method, encoded', { 'mcp-method': base64('tools/call') }],
    ['no Mcp-Method', { 'mcp-method': undefined }],
    ['an empty Mcp-Method', { 'mcp-method': '' }],
    ['Mcp-Name of another tool', { 'mcp-name': 'any' }],
    ['Mcp-Name in capitals', { 'mcp-name': 'ECHO' }],
    ['no Mcp-Name', { 'mcp-name': undefined }],
    ['an empty Mcp-Name', { 'mcp-name': '' }],
    ['Mcp-Name of another tool, encoded', { 'mcp-name': base64('any') }],
    ['Mcp-Name, encoded without padding', { 'mcp-name': '=?base64?ZWNobw?=' }],
    ['Mcp-Name, encoded with a foreign letter', { 'mcp-name': '=?base64?ZWNo*w==?=' }],
    ['Mcp-Name, encoded with a space', { 'mcp-name': '=?base64?ZWNo bw==?=' }],
    ['Mcp-Name, encoded for another alphabet', { 'mcp-name': '=?base64?_-==?=' }],
    ['Mcp-Name, encoded bytes that are not UTF-8', { 'mcp-name': '=?base64?/w==?=' }],
    ['Mcp-Name, encoded with trailing bits', { 'mcp-name': '=?base64?ZWNob1==?=' }],
    ['Mcp-Name, encoded in capitals', { 'mcp-name': '=?BASE64?ZWNobw==?=' }],
    ['Mcp-Name, encoded and not closed', { 'mcp-name': '=?base64?ZWNobw==' }],
    ['Mcp-Name, encoded and empty', { 'mcp-name': '=?base64??=' }],
    ['Mcp-Name, half of the sentinel', { 'mcp-name': '=?base64?=' }],
    ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }],
    ['an unknown MCP-Protocol-Version', { 'mcp-protocol-version': '2099-01-01' }],
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }],
  ])('%s: −32020, and nothing runs', async (_, wrong) => {
    const before = runs.get('echo') ?? 0
    const headers = Object.fromEntries(
      Object.entries({ ...right, ...wrong }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const response = await post(call, headers)
    expect(response.status).toBe(400)
    expect(codeOf(response)).toBe(-32020)
    expect(runs.get('echo') ?? 0).toBe(before)
  })

  test.each([
    ['unchanged', {}],
    ['with white space around', { 'mcp-name': '  echo\t', 'mcp-method': ' tools/call ' }],
    ['with the name encoded', { 'mcp-name': base64('echo') }],
    ['with additional headers', { 'mcp-param-text': 'b', 'mcp-param-x': 'y' }],
  ])('%s: served', async (_, more) => {
    expect((await post(call, { ...right, ...more })).status).toBe(200)
  })

  test('the body decides, never the header', async () => {
    const before = runs.get('gated') ?? 0
    const response = await post(callOf(1, 'gated'), { ...headersFor(callOf(1, 'echo')) })
    expect(codeOf(response)).toBe(-32020)
    expect(runs.get('gated') ?? 0).toBe(before)
  })

  describe('for arguments', () => {
    const routed = (args: Params): Params => callOf(1, 'routed', args)
    const withParams = (params: { readonly [name: string]: string }): { readonly [name: string]: string } => ({
      ...headersFor(routed({})),
      ...params,
    })

    test.each([
      ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
      ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
      ['none', { region: 'eu' }, {}],
      ['another number', { region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '43' }],
      ['no number', { region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': 'x' }],
      ['empty for zero', { region: 'eu', size: 0 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '' }],
      ['broken base64', { region: 'é' }, { 'mcp-param-region': '=?base64?w6k?=' }],
      ['two values', { region: 'eu' }, { 'mcp-param-region': 'eu, us' }],
      [
        'a number that is not decimal',
        { region: 'eu', size: 42 },
        { 'mcp-param-region': 'eu', 'mcp-param-size': '0x2a' },
      ],
      ['characters that no header may contain', { region: 'é' }, { 'mcp-param-region': 'é' }],
      ['one for a missing argument', { region: 'eu' }, { 'mcp-param-region': 'eu', 'mcp-param-size': '7' }],
      ['one for an argument that is null', { region: null }, { 'mcp-param-region': 'eu' }],
    ])('%s: −32020, and nothing runs', async (_, args, params) => {
      const before = runs.get('routed') ?? 0
      const response = await post(routed(args), withParams(params))
      expect(response.status).toBe(400)
      expect(codeOf(response)).toBe(-32020)
      expect(runs.get('routed') ?? 0).toBe(before)
    })

    test.each([
      ['the value', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
      ['the value, encoded', { region: 'é' }, { 'mcp-param-region': base64('é') }],
      [
        'a number in another notation',
        { region: 'eu', size: 42 },
        { 'mcp-param-region': 'eu', 'mcp-param-size': '42.0' },
      ],
    ])('%s: served', async (_, args, params) => {
      const response = await post(routed(args), withParams(params))
      expect(response.status).toBe(200)
      expect(JSON.parse(response.body)).toMatchObject({ result: { isError: false } })
    })
  })
})

describe('versions and methods', () => {
  test.each(['2099-01-01', '2025-11-25', '2024-11-05', '', 'draft', '2026-07-28 ', 'x'.repeat(10_000)])(
    'an envelope of %.20j: −32022',
    async (version) => {
      const message = request(1, 'tools/list', {
        _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': version },
      })
      const response = await post(message, { 'mcp-protocol-version': version.trim(), 'mcp-method': 'tools/list' })
      expect(response.status).toBe(400)
      // A difference from the header is reported first.
      expect(codeOf(response)).toBe(version === version.trim() ? -32022 : -32020)
      expect(response.body.length).toBeLessThan(1000)
    },
  )

  test.each([
    ['no _meta', {}],
    ['an empty _meta', { _meta: {} }],
    ['_meta null', { _meta: null }],
    ['_meta that is a list', { _meta: [] }],
    ['_meta that is text', { _meta: 'x' }],
    ['no capabilities', { _meta: { 'io.modelcontextprotocol/protocolVersion': modern } }],
    ['capabilities null', { _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': null } }],
    ['capabilities that are a list', { _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': [] } }],
    ['a version that is a number', { _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': 20260728 } }],
    ['an unknown level', { _meta: { ...envelope, 'io.modelcontextprotocol/logLevel': 'loud' } }],
  ])('%s: −32602', async (_, params) => {
    const response = await post(request(1, 'tools/list', params), {
      'mcp-protocol-version': modern,
      'mcp-method': 'tools/list',
    })
    expect(codeOf(response)).toBe(-32602)
    if (!JSON.stringify(params).includes('loud')) expect(response.status).toBe(400)
  })

  test.each([{ result: {} }, { error: { code: 1, message: 'x' } }])(
    'a response %j: refused because there was no request, not because of a missing session',
    async (response) => {
      const { status, body } = await post({ jsonrpc: '2.0', id: 1, ...response }, { 'mcp-protocol-version': modern })
      expect(status).toBe(400)
      expect(body).toContain('2026-07-28 has no requests to clients')
    },
  )

  test('a missing capability: −32021, and nothing runs', async () => {
    const call = callOf(1, 'asks')
    const response = await post(call, headersFor(call))
    expect(response.status).toBe(400)
    expect(codeOf(response)).toBe(-32021)
    expect(runs.get('asks')).toBeUndefined()
  })

  test.each([
    'nobody',
    'tools/Call',
    'ping',
    'initialize',
    'logging/setLevel',
    'tools/call/',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
  ])('the method %s, which 2026-07-28 does not have: 404 and −32601', async (method) => {
    const response = await post(modernRequest(1, method), { 'mcp-protocol-version': modern, 'mcp-method': method })
    expect(response.status).toBe(404)
    expect(codeOf(response)).toBe(-32601)
  })

  test.each(['GET', 'DELETE'])('%s of 2026-07-28: 405', async (method) => {
    const own = await rawHttp(port)
    own.write(
      requestHead(
        { host: `127.0.0.1:${port}`, 'mcp-protocol-version': modern, accept: 'text/event-stream' },
        { method },
      ),
    )
    const { status, headers } = await own.next()
    expect(status).toBe(405)
    expect(headers.get('allow')).toMatch(/POST/)
    own.destroy()
  })

  test('a posted response of 2026-07-28 is refused', async () => {
    const response = await post({ jsonrpc: '2.0', id: 'sluice-1', result: {} }, { 'mcp-protocol-version': modern })
    expect(response.status).toBe(400)
    expect(codeOf(response)).toBe(-32600)
  })

  test('a batch of 2026-07-28 is refused, with sessions or without', async () => {
    const own = await serveHttp(createAttackedServer().server, { port: 0, sessions: false })
    const sessionless = await rawHttp(Number(new URL(own.url).port))
    const batch = [callOf(1, 'echo', { text: 'a' })]
    const headers = { 'mcp-protocol-version': modern }
    for (const response of [await post(batch, headers), await sessionless.post(JSON.stringify(batch), headers)]) {
      expect(response.status).toBe(400)
      expect(codeOf(response)).toBe(-32600)
    }
    sessionless.destroy()
    await own.close()
  })

  test('a batch of 2025-03-26 has at most 100 messages, and each runs once', async () => {
    const opened = await post(initialize('2025-03-26'))
    const session = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')) }
    const batch = (size: number): Params[] =>
      Array.from({ length: size }, (_, id) => request(id, 'tools/call', { name: 'echo', arguments: { text: 'a' } }))
    const before = runs.get('echo') ?? 0
    const refused = await post(batch(101), session)
    expect(codeOf(refused)).toBe(-32600)
    expect(runs.get('echo') ?? 0).toBe(before)
    const taken = await post(batch(100), session)
    expect(JSON.parse(taken.body)).toHaveLength(100)
    expect(runs.get('echo') ?? 0).toBe(before + 100)
    // One id for all: one runs, the others are refused.
    const same = await post(
      batch(50).map((message) => ({ ...message, id: 7 })),
      session,
    )
    const answers = JSON.parse(same.body) as Params[]
    expect(answers.filter((answer) => 'result' in answer)).toHaveLength(1)
    expect(answers.filter((answer) => 'error' in answer)).toHaveLength(49)
  })
})
