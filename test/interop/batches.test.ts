/** Arrays of messages, which only 2025-03-26 has. */

import { defineServer, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { describe, expect, onTestFinished, test } from 'vitest'
import { envelope, toInitialize } from '../kit/clients/envelope.ts'
import { messagesOf, post } from '../kit/clients/http-events.ts'
import type { Params, Revision } from '../kit/clients/protocol.client.ts'
import { allCapabilities, isObject, legacy } from '../kit/clients/protocol.client.ts'
import { openPipe } from '../kit/clients/stdio.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

async function allOf(messages: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for await (const message of messages) all.push(message)
  return all
}

interface Answer {
  /** The HTTP status. */
  readonly status?: number
  readonly messages: readonly unknown[]
}
/** Sends a value unchanged, and returns everything that came back for it. */
type Say = (value: unknown) => Promise<Answer>

const silent = { info() {}, warn() {}, error() {} }
const ping = (id: number | string): Params => ({ jsonrpc: '2.0', id, method: 'ping' })
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
const initialize = (revision: Revision): Params => ({
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: toInitialize({ revision, capabilities: allCapabilities }),
})

const openers: { readonly [transport in 'stdio' | 'http']: (revision?: Revision) => Promise<Say> } = {
  async stdio(revision) {
    const pipe = openPipe(createEverything())
    onTestFinished(() => pipe.close())
    // A pipe does not signal the absence of an answer; the answer to a later message does.
    let fences = 0
    const say: Say = async (value) => {
      pipe.received.clear()
      const fence = `fence-${++fences}`
      pipe.write(value)
      pipe.write(ping(fence))
      await pipe.received.next((line) => isObject(line) && line['id'] === fence)
      return { messages: pipe.received.all.filter((line) => !isObject(line) || line['id'] !== fence) }
    }
    if (revision) await say(initialize(revision))
    return say
  },
  async http(revision) {
    const { url, close } = await serveHttp(createEverything(), { port: 0 })
    onTestFinished(close)
    let session: { [header: string]: string } = {}
    const say: Say = async (value) => {
      const response = await post(url, value, session)
      const id = response.headers.get('mcp-session-id')
      if (id !== null && revision) session = { 'mcp-session-id': id, 'mcp-protocol-version': revision }
      return { status: response.status, messages: await allOf(messagesOf(response)) }
    }
    if (revision) await say(initialize(revision))
    return say
  },
}

describe.each(['stdio', 'http'] as const)('over %s', (transport) => {
  const open = openers[transport]
  const status = (code: number): { status?: number } => (transport === 'http' ? { status: code } : {})
  const refused = { ...status(400), messages: [{ jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) }] }
  const pong = (id: number): Params => ({ jsonrpc: '2.0', id, result: {} })

  test('2025-03-26 answers the requests of a batch in one array', async () => {
    const say = await open('2025-03-26')
    const list = { jsonrpc: '2.0', id: 2, method: 'prompts/list' }
    const { messages, ...more } = await say([ping(1), initialized, list, ping(3)])
    expect(more).toEqual(status(200))
    expect(messages).toHaveLength(1)
    expect(messages[0]).toEqual(
      expect.arrayContaining([pong(1), expect.objectContaining({ id: 2, result: expect.anything() }), pong(3)]),
    )
    expect(messages[0]).toHaveLength(3)
  })
  test('a batch of notifications has no answer', async () => {
    const say = await open('2025-03-26')
    expect(await say([initialized, initialized])).toEqual({ ...status(202), messages: [] })
  })
  test('each element is answered separately', async () => {
    const say = await open('2025-03-26')
    const { messages } = await say([
      ping(1),
      { jsonrpc: '1.0', id: 2, method: 'ping' },
      { jsonrpc: '2.0', id: 3, method: 'nothing' },
      17,
    ])
    expect(messages[0]).toEqual([
      pong(1),
      expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32600 }) }),
      expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32601 }) }),
      { jsonrpc: '2.0', error: expect.objectContaining({ code: -32600 }) },
    ])
  })
  test('an empty batch is refused as a whole', async () => {
    const say = await open('2025-03-26')
    expect(await say([])).toEqual(refused)
  })
  test('a handshake in a batch is refused as a whole, before and after the real one', async () => {
    const before = await open()
    expect(await before([initialize('2025-03-26'), ping(2)])).toEqual(refused)
    const after = await open('2025-03-26')
    expect(await after([ping(2), initialize('2025-03-26')])).toEqual(refused)
  })
  test('a message of 2026-07-28 in a batch is refused as a whole', async () => {
    const say = await open('2025-03-26')
    expect(await say([ping(1), { ...ping(2), method: 'tools/list', params: { _meta: envelope({}) } }])).toEqual(refused)
  })
  test.each(legacy.filter((revision) => revision !== '2025-03-26'))('%s has no batches', async (revision) => {
    const say = await open(revision)
    expect(await say([ping(1)])).toEqual(refused)
    // The conversation continues.
    expect((await say(ping(2))).messages).toEqual([pong(2)])
  })
})

test('2025-03-26 over HTTP may answer several questions in one batch', async () => {
  const { url, close } = await serveHttp(createEverything(), { port: 0 })
  onTestFinished(close)
  const session = { 'mcp-session-id': (await post(url, initialize('2025-03-26'))).headers.get('mcp-session-id') ?? '' }
  const call = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'both' } }, session)
  const answers: { [method: string]: object } = {
    'roots/list': { roots: [{ uri: 'file:///a' }] },
    'sampling/createMessage': { role: 'assistant', model: 'a-model', content: { type: 'text', text: 'x' } },
  }
  const responses: object[] = []
  let result: unknown
  for await (const message of messagesOf(call)) {
    if (!isObject(message)) continue
    const { id, method } = message
    if (typeof method !== 'string') result = message['result']
    else if (responses.push({ jsonrpc: '2.0', id, result: answers[method] }) === 2)
      expect((await post(url, responses, session)).status).toBe(202)
  }
  expect(result).toMatchObject({ content: [{ text: '1 folders, a-model' }] })
})

/** One call keeps working, one exceeds its deadline; both came in one batch. */
test('over HTTP a call of a batch reports progress, and one that times out does not affect the others', async () => {
  const input = jsonSchema({ type: 'object' })
  const reached = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'Never ends',
    input,
    timeoutMs: 50,
    async run(_, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reached.resolve()
      return 'late'
    },
  })
  const steady = tool({
    name: 'steady',
    description: 'Reports, and ends after the slow one was stopped',
    input,
    async run(_, { progress, signal }) {
      progress(1, 2)
      await reached.promise
      progress(2, 2)
      return signal.aborted ? 'stopped' : 'went on'
    },
  })
  const { url, close } = await serveHttp(defineServer({ name: 'a', version: '1', tools: [slow, steady] }), {
    port: 0,
    use: [log(silent)],
  })
  onTestFinished(close)
  const session = { 'mcp-session-id': (await post(url, initialize('2025-03-26'))).headers.get('mcp-session-id') ?? '' }
  const call = (id: number, name: string): Params => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: {}, _meta: { progressToken: name } },
  })
  const said = await allOf(messagesOf(await post(url, [call(1, 'slow'), call(2, 'steady')], session)))
  expect(said).toMatchObject([
    { method: 'notifications/progress', params: { progressToken: 'steady', progress: 1 } },
    { method: 'notifications/progress', params: { progressToken: 'steady', progress: 2 } },
    [
      { id: 1, result: { isError: true } },
      { id: 2, result: { content: [{ text: 'went on' }] } },
    ],
  ])
})

test('2026-07-28 over HTTP has no batches', async () => {
  const { url, close } = await serveHttp(createEverything(), { port: 0 })
  onTestFinished(close)
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope({}) } }
  const response = await post(url, [message], { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: -32600 } })
})
