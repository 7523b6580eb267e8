/**
 * A response is never answered, whatever is wrong with it: two sides that answer each other's answers would never stop.
 */

import type { Params } from 'sluice'
import { authenticate } from 'sluice'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import { rawHttp } from '../kit/clients/raw-http.client.ts'
import { openEventStream, openSocket } from '../kit/clients/streaming.client.ts'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

const broken: readonly string[] = [
  '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
  '{"jsonrpc":"2.0","id":9007199254740991.4,"result":{}}',
  '{"jsonrpc":"2.0","id":1e400,"result":{}}',
  '{"jsonrpc":"2.0","id":1.5,"result":{}}',
  '{"jsonrpc":"2.0","id":-0,"result":{}}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
  '{"jsonrpc":"2.0","id":{},"result":{}}',
  '{"jsonrpc":"2.0","id":[7],"result":{}}',
  '{"jsonrpc":"2.0","id":true,"error":{}}',
  '{"jsonrpc":"2.0","result":{}}',
  '{"jsonrpc":"2.0","id":"nobody asked","result":{}}',
  '{"jsonrpc":"2.0","id":7,"result":{},"result":{}}',
  '{"jsonrpc":"2.0","id":7,"id":8,"result":{}}',
  '{"jsonrpc":"2.0","id":7,"result":{"n":123456789012345678901234567890}}',
  '{"jsonrpc":"2.0","id":7,"result":{"__proto__":1}}',
  '{"jsonrpc":"1.0","id":7,"result":{}}',
  '{"id":7,"result":{}}',
  '{"id":7,"error":{"code":-32600,"message":"Invalid request"}}',
]
const batches = broken.map((each) => `[${each}]`)
const ping = request('ping', 'ping')

/** Anything before the answer to the ping is one answer too many. */
async function expectSilence(say: (text: string) => void, next: () => Promise<Params>): Promise<void> {
  for (const text of [...broken, ...batches]) {
    say(text)
    say(JSON.stringify(ping))
    expect(await next(), text).toMatchObject({ id: 'ping', result: {} })
  }
}

async function serve() {
  const serving = await serveHttp(createAttackedServer().server, { port: 0, sse: sse(), websocket: websocket() })
  onTestFinished(serving.close)
  return Number(new URL(serving.url).port)
}

describe('an invalid response gets no answer', () => {
  test('on stdio', async () => {
    const pipe = pipeTo(createAttackedServer().server)
    pipe.send(initialize('2025-03-26'))
    await pipe.next()
    await expectSilence((text) => pipe.write(`${text}\n`), pipe.next)
  })

  test('on a WebSocket', async () => {
    const socket = await openSocket(`ws://127.0.0.1:${await serve()}/ws`)
    onTestFinished(() => socket.ws.terminate())
    socket.ws.send(JSON.stringify(initialize('2025-03-26')))
    await socket.next()
    await expectSilence((text) => socket.ws.send(text), socket.next)
  })

  test('on the stream of HTTP+SSE; its POST has a status', async () => {
    const port = await serve()
    const events = await openEventStream(`http://127.0.0.1:${port}/sse`)
    onTestFinished(events.close)
    const url = `http://127.0.0.1:${port}${await events.endpoint}`
    const headers = { 'content-type': 'application/json' }
    await fetch(url, { method: 'POST', headers, body: JSON.stringify(initialize('2024-11-05')) })
    await events.next()
    for (const text of broken) {
      const said = await (await fetch(url, { method: 'POST', headers, body: text })).text()
      expect(said, text).not.toContain('"id"')
      await fetch(url, { method: 'POST', headers, body: JSON.stringify(ping) })
      expect(await events.next(), text).toMatchObject({ id: 'ping' })
    }
  })

  test('over HTTP it has a status, and a refusal without an id', async () => {
    const http = await rawHttp(await serve())
    onTestFinished(http.destroy)
    const hello = await http.post(JSON.stringify(initialize('2025-03-26')))
    const session = { 'mcp-session-id': String(hello.headers.get('mcp-session-id')) }
    for (const text of [...broken, ...batches]) {
      const { status, body } = await http.post(text, session)
      expect([202, 400], text).toContain(status)
      expect(body, text).not.toContain('"id"')
    }
  })

  test('from a program', async () => {
    const { server } = createAttackedServer()
    for (const text of broken) expect(await server.handle(JSON.parse(text)), text).toBeNull()
  })
})

test('an anonymous caller cannot hide a response or a cancellation in a batch', async () => {
  const { server, runs } = createAttackedServer({ use: [authenticate({ verifiers: [verifier] })] })
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(serving.close)
  const http = await rawHttp(Number(new URL(serving.url).port))
  const own = { authorization: 'Bearer good-ann' }
  const hello = await http.post(JSON.stringify(initialize('2025-03-26')), own)
  const session = { 'mcp-session-id': String(hello.headers.get('mcp-session-id')) }
  const caller = await rawHttp(http.port)
  onTestFinished(caller.destroy)
  const call = request(7, 'tools/call', { name: 'wait', arguments: {} })
  const answer = caller.post(JSON.stringify(call), { ...own, ...session })
  while (!runs.get('wait')) await new Promise(setImmediate)
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
  for (const batch of [[cancel], [cancel, request(8, 'ping')]]) {
    expect((await http.post(JSON.stringify(batch), session)).status).toBe(401)
    expect(runs.get('wait stopped')).toBeUndefined()
  }
  expect((await http.post(JSON.stringify([cancel]), { ...own, ...session })).status).toBe(202)
  await answer
  expect(runs.get('wait stopped')).toBe(1)
  http.destroy()
})
