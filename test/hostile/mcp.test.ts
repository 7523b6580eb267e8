/** What is particular to MCP: headers that repeat the body, versions, arguments, sessions of others, cached lists. */

import type { Params, Server } from 'sluice'
import { createServer, defineServer, resource, RpcError, tool } from 'sluice'
import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createSessions } from '../../packages/sluice/src/transports/http/sessions.ts'
import { attacked } from './fixture.ts'
import { callOf, envelope, headersFor, initialize, modern, modernRequest, request } from './messages.ts'
import type { RawHttp, RawResponse } from './raw-http.ts'
import { rawHttp, requestHead } from './raw-http.ts'

const { server, runs } = attacked()
let serving: HttpServing
let http: RawHttp
beforeAll(async () => {
  serving = await serveHttp(server, { port: 0 })
  http = await rawHttp(Number(new URL(serving.url).port))
})
afterAll(async () => {
  http.destroy()
  await serving.close()
})

const post = (message: unknown, headers: { readonly [name: string]: string } = {}): Promise<RawResponse> => http.post(JSON.stringify(message), headers)
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
    ['Mcp-Name, encoded bytes that are no UTF-8', { 'mcp-name': '=?base64?/w==?=' }],
    ['Mcp-Name, encoded with trailing bits', { 'mcp-name': '=?base64?ZWNob1==?=' }],
    ['Mcp-Name, encoded in capitals', { 'mcp-name': '=?BASE64?ZWNobw==?=' }],
    ['Mcp-Name, encoded and not closed', { 'mcp-name': '=?base64?ZWNobw==' }],
    ['Mcp-Name, encoded nothing', { 'mcp-name': '=?base64??=' }],
    ['Mcp-Name, half of the sentinel', { 'mcp-name': '=?base64?=' }],
    ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }],
    ['an MCP-Protocol-Version nobody has', { 'mcp-protocol-version': '2099-01-01' }],
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }],
  ])('%s: −32020, and nothing runs', async (_, wrong) => {
    const before = runs.get('echo') ?? 0
    const headers = Object.fromEntries(Object.entries({ ...right, ...wrong }).filter((entry): entry is [string, string] => entry[1] !== undefined))
    const response = await post(call, headers)
    expect(response.status).toBe(400)
    expect(codeOf(response)).toBe(-32020)
    expect(runs.get('echo') ?? 0).toBe(before)
  })

  test.each([
    ['as they are', {}],
    ['with white space around', { 'mcp-name': '  echo\t', 'mcp-method': ' tools/call ' }],
    ['with the name encoded', { 'mcp-name': base64('echo') }],
    ['with others nobody asked for', { 'mcp-param-text': 'b', 'mcp-param-x': 'y' }],
  ])('%s: served', async (_, more) => {
    expect((await post(call, { ...right, ...more })).status).toBe(200)
  })

  test('what the body says decides, never the header', async () => {
    const before = runs.get('gated') ?? 0
    const response = await post(callOf(1, 'gated'), { ...headersFor(callOf(1, 'echo')) })
    expect(codeOf(response)).toBe(-32020)
    expect(runs.get('gated') ?? 0).toBe(before)
  })

  describe('for arguments', () => {
    const routed = (args: Params): Params => callOf(1, 'routed', args)
    const withParams = (params: { readonly [name: string]: string }): { readonly [name: string]: string } => ({ ...headersFor(routed({})), ...params })

    test.each([
      ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
      ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
      ['none', { region: 'eu' }, {}],
      ['another number', { region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '43' }],
      ['no number', { region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': 'x' }],
      ['nothing for zero', { region: 'eu', size: 0 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '' }],
      ['broken base64', { region: 'é' }, { 'mcp-param-region': '=?base64?w6k?=' }],
      ['two values', { region: 'eu' }, { 'mcp-param-region': 'eu, us' }],
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
      ['a number in other words', { region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '42.0' }],
      ['one for an argument that is not there', { region: 'eu' }, { 'mcp-param-region': 'eu', 'mcp-param-size': '7' }],
    ])('%s: served', async (_, args, params) => {
      const response = await post(routed(args), withParams(params))
      expect(response.status).toBe(200)
      expect(JSON.parse(response.body)).toMatchObject({ result: { isError: false } })
    })
  })
})

describe('versions and methods', () => {
  test.each(['2099-01-01', '2025-11-25', '2024-11-05', '', 'draft', '2026-07-28 ', 'x'.repeat(10_000)])('an envelope of %.20j: −32022', async (version) => {
    const message = request(1, 'tools/list', { _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': version } })
    const response = await post(message, { 'mcp-protocol-version': version.trim(), 'mcp-method': 'tools/list' })
    expect(response.status).toBe(400)
    // What differs from its header is that first.
    expect(codeOf(response)).toBe(version === version.trim() ? -32022 : -32020)
    expect(response.body.length).toBeLessThan(1000)
  })

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
    ['a level nobody has', { _meta: { ...envelope, 'io.modelcontextprotocol/logLevel': 'loud' } }],
  ])('%s: −32602', async (_, params) => {
    const response = await post(request(1, 'tools/list', params), { 'mcp-protocol-version': modern, 'mcp-method': 'tools/list' })
    expect(codeOf(response)).toBe(-32602)
    if (!JSON.stringify(params).includes('loud')) expect(response.status).toBe(400)
  })

  test('a capability that is missing: −32021, and nothing runs', async () => {
    const call = callOf(1, 'asks')
    const response = await post(call, headersFor(call))
    expect(response.status).toBe(400)
    expect(codeOf(response)).toBe(-32021)
    expect(runs.get('asks')).toBeUndefined()
  })

  test.each(['nobody', 'tools/Call', 'ping', 'initialize', 'logging/setLevel', 'tools/call/', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'the method %s, which 2026-07-28 does not have: 404 and −32601',
    async (method) => {
      const response = await post(modernRequest(1, method), { 'mcp-protocol-version': modern, 'mcp-method': method })
      expect(response.status).toBe(404)
      expect(codeOf(response)).toBe(-32601)
    },
  )

  test.each(['GET', 'DELETE'])('%s of 2026-07-28: 405', async (method) => {
    const own = await rawHttp(http.port)
    own.write(requestHead({ host: `127.0.0.1:${http.port}`, 'mcp-protocol-version': modern, accept: 'text/event-stream' }, { method }))
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
    const own = await serveHttp(attacked().server, { port: 0, sessions: false })
    const sessionless = await rawHttp(Number(new URL(own.url).port))
    for (const client of [http, sessionless]) {
      const response = await client.post(JSON.stringify([callOf(1, 'echo', { text: 'a' })]), { 'mcp-protocol-version': modern })
      expect(response.status).toBe(400)
      expect(codeOf(response)).toBe(-32600)
    }
    sessionless.destroy()
    await own.close()
  })

  test('a batch of 2025-03-26 has at most 100 messages, and each runs once', async () => {
    const opened = await post(initialize('2025-03-26'))
    const session = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')) }
    const batch = (size: number): Params[] => Array.from({ length: size }, (_, id) => request(id, 'tools/call', { name: 'echo', arguments: { text: 'a' } }))
    const before = runs.get('echo') ?? 0
    const refused = await post(batch(101), session)
    expect(codeOf(refused)).toBe(-32600)
    expect(runs.get('echo') ?? 0).toBe(before)
    const served = await post(batch(100), session)
    expect(JSON.parse(served.body)).toHaveLength(100)
    expect(runs.get('echo') ?? 0).toBe(before + 100)
    // One id for all: one runs, the others are told.
    const same = await post(batch(50).map((message) => ({ ...message, id: 7 })), session)
    const answers = JSON.parse(same.body) as Params[]
    expect(answers.filter((answer) => 'result' in answer)).toHaveLength(1)
    expect(answers.filter((answer) => 'error' in answer)).toHaveLength(49)
  })
})

describe('arguments that fail the schema', () => {
  test.each([
    [{}],
    [{ count: 3 }],
    [{ count: '3', kind: 'a' }],
    [{ count: 0, kind: 'a' }],
    [{ count: 11, kind: 'a' }],
    [{ count: 1.5, kind: 'a' }],
    [{ count: 3, kind: 'c' }],
    [{ count: 3, kind: 'a', tags: 'x' }],
    [{ count: 3, kind: 'a', tags: ['1', '2', '3', '4'] }],
    [{ count: 3, kind: 'a', tags: ['too long'] }],
    [{ count: null, kind: null }],
    [{ count: [3], kind: ['a'] }],
    [{ Count: 3, Kind: 'a' }],
    [{ 'count\u0000': 3, kind: 'a' }],
  ])('%j: a tool error result, and nothing runs', async (args) => {
    for (const revision of ['2026-07-28', '2025-11-25', '2025-03-26', '2024-11-05'] as const) {
      const client = await testClient(server, { revision })
      const result = await client.call('strict', args)
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('Invalid params for strict') }] })
      client.close()
    }
    expect(runs.get('strict')).toBeUndefined()
  })

  test.each([null, 1, 'a', [], [1], true])('arguments %j are no object: refused, and nothing runs', async (args) => {
    const answer = await server.handle(modernRequest(1, 'tools/call', { name: 'strict', arguments: args }))
    expect(answer).toSatisfy((said: { result?: { isError?: boolean }; error?: object }) => said.error !== undefined || said.result?.isError === true)
    expect(runs.get('strict')).toBeUndefined()
  })

  test('a value with a million problems is refused with a few of them', async () => {
    const { server: own } = lists()
    const answer = await own.handle(callOf(1, 'many', { values: Array.from({ length: 100_000 }, () => 'x') }))
    expect(JSON.stringify(answer).length).toBeLessThan(10_000)
    expect(answer).toMatchObject({ result: { isError: true } })
  })
})

describe('sessions of others', () => {
  const open = async (): Promise<string> => String((await post(initialize())).headers.get('mcp-session-id'))

  test('ids are 128 random bits', async () => {
    const ids = await Promise.all(Array.from({ length: 2000 }, open))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    // Every one of the 128 bits is set in about half of them: 1000 ± 5 standard deviations.
    for (let digit = 0; digit < 32; digit++)
      for (const bit of [1, 2, 4, 8]) {
        const set = ids.filter((id) => Number.parseInt(id[digit] ?? '0', 16) & bit).length
        expect(Math.abs(set - 1000)).toBeLessThan(112)
      }
  })

  test('guessing finds none', async () => {
    const sessions = createSessions(server, { idleMs: 1000, max: 1000 })
    const kept = Array.from({ length: 1000 }, () => {
      const session = sessions.create()
      sessions.keep(session)
      return session
    })
    let found = 0
    const digit = (): string => Math.floor(Math.random() * 16).toString(16)
    for (let guess = 0; guess < 100_000; guess++) {
      const near = kept[guess % kept.length]?.id ?? ''
      // One digit off, or anything at all.
      const at = guess % 32
      const id = guess % 2 === 0 ? near.slice(0, at) + ((Number.parseInt(near[at] ?? '0', 16) + 1) % 16).toString(16) + near.slice(at + 1) : Array.from({ length: 32 }, digit).join('')
      try {
        sessions.get(id)
        found++
      } catch (thrown) {
        if (!(thrown instanceof RpcError) || thrown.reason !== 'sessionNotFound') throw thrown
      }
    }
    expect(found).toBe(0)
    sessions.close()
    expect(sessions.size).toBe(0)
  })

  test('what is almost an id is 404, on every method', async () => {
    const id = await open()
    const before = runs.get('echo') ?? 0
    for (const wrong of [id.toUpperCase(), `${id} ${id}`, `${id},${id}`, id.slice(0, -1), `${id}0`, '0'.repeat(32), '*', '__proto__', 'constructor', '1', 'undefined', 'null', "' OR 1=1", '../x', `${id}\t.`]) {
      if (wrong === id) continue
      const response = await post(request(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } }), { 'mcp-session-id': wrong })
      expect(response.status, wrong).toBe(404)
      for (const method of ['GET', 'DELETE']) {
        const own = await rawHttp(http.port)
        own.write(requestHead({ host: `127.0.0.1:${http.port}`, accept: 'text/event-stream', 'mcp-session-id': wrong }, { method }))
        expect((await own.next()).status, `${method} ${wrong}`).toBe(404)
        own.destroy()
      }
    }
    expect(runs.get('echo') ?? 0).toBe(before)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': id })).status).toBe(200)
  })

  test('none is no session, and nobody else’s either', async () => {
    await open()
    const response = await post(request(1, 'ping'))
    expect(response.status).toBe(400)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': '' })).status).toBeGreaterThanOrEqual(400)
  })

  test('an id that was ended, or replayed after that, is 404', async () => {
    const id = await open()
    const own = await rawHttp(http.port)
    own.write(requestHead({ host: `127.0.0.1:${http.port}`, 'mcp-session-id': id }, { method: 'DELETE' }))
    expect((await own.next()).status).toBe(204)
    for (let replay = 0; replay < 3; replay++) expect((await post(request(replay, 'ping'), { 'mcp-session-id': id })).status).toBe(404)
    expect((await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, { 'mcp-session-id': id })).status).toBe(404)
    own.destroy()
  })

  test('a client cannot choose its id', async () => {
    const chosen = 'a'.repeat(32)
    const opened = await post(initialize(), { 'mcp-session-id': chosen })
    expect(opened.headers.get('mcp-session-id')).not.toBe(chosen)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': chosen })).status).toBe(404)
  })

  test('one session cannot cancel, answer or resume what is another’s', async () => {
    const [a, b] = [await open(), await open()]
    const waiting = await rawHttp(http.port)
    const stopped = runs.get('wait stopped') ?? 0
    const started = runs.get('wait') ?? 0
    const answer = waiting.post(JSON.stringify(request(99, 'tools/call', { name: 'wait', arguments: {} })), { 'mcp-session-id': a })
    await expect.poll(() => runs.get('wait')).toBe(started + 1)
    expect((await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } }, { 'mcp-session-id': b })).status).toBe(202)
    for (const id of ['sluice-1', 'sluice-2']) expect((await post({ jsonrpc: '2.0', id, result: {} }, { 'mcp-session-id': b })).status).toBe(400)
    expect(runs.get('wait stopped') ?? 0).toBe(stopped)
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } }, { 'mcp-session-id': a })
    expect((await answer).body).toBe('')
    expect(runs.get('wait stopped')).toBe(stopped + 1)
    waiting.destroy()
  })

  test('an event id of another session, or no event id, resumes nothing', async () => {
    const { server: own, tell } = lists()
    const ownServing = await serveHttp(own, { port: 0 })
    const at = Number(new URL(ownServing.url).port)
    const client = await rawHttp(at)
    const ids = [await client.post(JSON.stringify(initialize())), await client.post(JSON.stringify(initialize()))].map(({ headers }) => String(headers.get('mcp-session-id')))
    const [a = '', b = ''] = ids
    const listen = async (session: string, last?: string): Promise<RawHttp> => {
      const stream = await rawHttp(at)
      stream.write(requestHead({ host: `127.0.0.1:${at}`, accept: 'text/event-stream', 'mcp-session-id': session, ...(last !== undefined && { 'last-event-id': last }) }, { method: 'GET' }))
      return stream
    }
    const streamA = await listen(a)
    await streamA.seen(/text\/event-stream/)
    tell()
    const heard = await streamA.seen(/id: (\S+)\n/)
    const event = /id: (\S+)\n/.exec(heard)?.[1] ?? ''
    const place = event.slice(0, event.lastIndexOf('.'))
    for (const last of [event, `${place}.0`, `${place}.1`, `${place}.-1`, `${place}.1e9`, `${place}.`, '', '.', '..', '0', `${a}.0`, '__proto__.0', 'x'.repeat(5000)]) {
      const stolen = await listen(b, last)
      expect((await stolen.next()).status, last).toBe(400)
      stolen.destroy()
    }
    const resumed = await listen(a, `${place}.0`)
    await resumed.seen(/list_changed/)
    for (const each of [streamA, resumed, client]) each.destroy()
    await ownServing.close()
  })

  test('a flood of handshakes pushes out the silent, never one with a call under way', async () => {
    const own = attacked()
    const made: { readonly closed: boolean }[] = []
    const watched: Server = {
      ...own.server,
      connect(options) {
        const connection = own.server.connect(options)
        made.push(connection)
        return connection
      },
    }
    const ownServing = await serveHttp(watched, { port: 0, maxSessions: 2 })
    const at = Number(new URL(ownServing.url).port)
    const client = await rawHttp(at)
    const begin = async (): Promise<RawResponse> => client.post(JSON.stringify(initialize()))
    const busy = await Promise.all(
      [await begin(), await begin()].map(async ({ headers }) => {
        const session = { 'mcp-session-id': String(headers.get('mcp-session-id')) }
        const caller = await rawHttp(at)
        return { session, caller, answer: caller.post(JSON.stringify(request(1, 'tools/call', { name: 'wait', arguments: {} })), session) }
      }),
    )
    await expect.poll(() => own.runs.get('wait')).toBe(2)
    for (let flood = 0; flood < 50; flood++) expect((await begin()).status).toBe(503)
    // A handshake that was refused leaves nothing behind.
    expect(made.filter(({ closed }) => !closed)).toHaveLength(2)
    for (const { session, caller, answer } of busy) {
      await client.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }), session)
      await answer
      caller.destroy()
    }
    for (let flood = 0; flood < 50; flood++) expect((await begin()).status).toBe(200)
    expect(made.filter(({ closed }) => !closed)).toHaveLength(2)
    client.destroy()
    await ownServing.close()
  })
})

/** Lists that differ by caller, of several pages. */
function lists(): { readonly server: Server; tell(): void } {
  const named = (name: string, scopes: readonly string[] = []): ReturnType<typeof tool> => tool({ name, description: name, scopes, run: () => name })
  const definition = defineServer({
    info: { name: 'lists', version: '1' },
    tools: [
      tool({ name: 'many', description: 'Takes many numbers', input: z.object({ values: z.array(z.number()) }), run: () => 'ran' }),
      ...Array.from({ length: 9 }, (_, index) => named(`tool-${index}`, index % 3 === 0 ? ['admin'] : [])),
    ],
    resources: [
      ...Array.from({ length: 4 }, (_, index) => resource({ uri: `note://${index}`, name: `note ${index}`, read: () => 'x' })),
      resource({ uri: 'mine://{x}', name: 'mine', list: () => ({ resources: [{ uri: 'mine://1', name: 'one' }] }), read: () => 'x' }),
    ],
    listTtlMs: 60_000,
  })
  const server = createServer(definition, { pageSize: 2 })
  return { server, tell: () => server.update({ ...definition, tools: [...(definition.tools ?? []), named(`new-${Math.random().toString(36).slice(2)}`)] }) }
}

describe('cached lists', () => {
  const pages = async (server: Server, method: string): Promise<Params[]> => {
    const found: Params[] = []
    for (let cursor: unknown; ; ) {
      const { result } = (await server.handle(modernRequest(1, method, cursor === undefined ? {} : { cursor }))) as { result: Params }
      found.push(result)
      cursor = result['nextCursor']
      if (cursor === undefined) return found
    }
  }

  test.each(['tools/list', 'resources/list'])('%s that differs by caller is private, on every page', async (method) => {
    const found = await pages(lists().server, method)
    expect(found.length).toBeGreaterThan(2)
    for (const page of found) expect(page).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 })
  })

  test('a list that is the same for all is public, on every page', async () => {
    const found = await pages(lists().server, 'resources/templates/list')
    for (const page of found) expect(page).toMatchObject({ cacheScope: 'public' })
  })

  test('what one caller may not see is on no page, in no refusal and behind no cursor', async () => {
    const { server } = lists()
    expect(JSON.stringify(await pages(server, 'tools/list'))).not.toMatch(/tool-[036]/)
    expect(JSON.stringify(await server.handle(callOf(1, 'nobody')))).not.toMatch(/tool-[036]/)
    const hidden = await server.handle(callOf(1, 'tool-0'))
    const unknown = await server.handle(callOf(1, 'tool-x'))
    const shape = (answer: unknown): string => JSON.stringify(answer).replaceAll(/tool-[0x]/g, 'NAME').replace(/"reference":"[^"]+"/, '')
    expect(shape(hidden)).toBe(shape(unknown))
    const cursor = Buffer.from(encodeURIComponent(JSON.stringify(['tools', 'tool-0']))).toString('base64')
    expect(await server.handle(modernRequest(1, 'tools/list', { cursor }))).toMatchObject({ error: { code: -32602 } })
  })

  test('a cursor that is not ours, of another list, or written differently is refused', async () => {
    const { server } = lists()
    const [first] = await pages(server, 'tools/list')
    const cursor = String(first?.['nextCursor'])
    for (const wrong of ['', 'x', '====', ` ${cursor}`, `${cursor}\n`, `${cursor.slice(0, 4)} ${cursor.slice(4)}`, cursor.slice(0, -1), [cursor], { cursor }, 1, null, true, 'é'])
      expect(await server.handle(modernRequest(1, 'tools/list', { cursor: wrong })), JSON.stringify(wrong)).toMatchObject({ error: { code: -32602 } })
    expect(await server.handle(modernRequest(1, 'resources/templates/list', { cursor }))).toMatchObject({ error: { code: -32602 } })
    expect(await server.handle(modernRequest(1, 'tools/list', { cursor }))).toHaveProperty('result')
  })

  test('a cursor that was forged is refused, and never handed to a listing as it is', async () => {
    const { server } = lists()
    const forged = (list: string, place: string): string => Buffer.from(encodeURIComponent(JSON.stringify([list, place]))).toString('base64')
    const places = ['x', 'null', '1', '{}', '[]', '["mine://{x}"]', '["mine://{x}",1]', '["mine://{x}",{"a":1}]', '["mine://{x}",["a"]]', '["nobody://",null]', '[null,null]', '"mine://{x}"']
    for (const place of places)
      expect(await server.handle(modernRequest(1, 'resources/list', { cursor: forged('listed', place) })), place).toMatchObject({ error: { code: -32602 } })
    for (const place of ['constructor', '__proto__', 'note://9', ''])
      expect(await server.handle(modernRequest(1, 'resources/list', { cursor: forged('resources', place) })), place).toMatchObject({ error: { code: -32602 } })
  })
})
