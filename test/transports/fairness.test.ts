/** A client that reads everything is not disconnected, whatever a tool sends within one turn, on every transport. */

import { PassThrough } from 'node:stream'
import type { Params } from 'sluice'
import { defineServer, tool } from 'sluice'
import { createServer, serveHttp, serveStdio } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { expect, onTestFinished, test } from 'vitest'
import { openEventStream, openSocket } from '../kit/clients/streaming.client.ts'
import { callOf, headersFor, initialize, request } from '../kit/clients/valid-messages.ts'

const lines = 12_000
const talk = tool({
  name: 'talk',
  description: 'Says 12,000 lines in one turn',
  run(_, { log }) {
    for (let index = 0; index < lines; index++) log('info', `${index} ${'x'.repeat(250)}`)
    return 'done'
  },
})
const server = () => createServer(defineServer({ name: 'talks', version: '1', tools: [talk] }))
async function serve(): Promise<string> {
  const serving = await serveHttp(server(), { port: 0, sse: sse(), websocket: websocket() })
  onTestFinished(serving.close)
  return serving.url.slice('http://'.length, -'/mcp'.length)
}
const modern = (): Params => {
  const { params, ...call } = callOf(1, 'talk')
  const { _meta: meta, ...rest } = params as { readonly _meta: object }
  return { ...call, params: { ...rest, _meta: { ...meta, 'io.modelcontextprotocol/logLevel': 'info' } } }
}
const legacy = request(1, 'tools/call', { name: 'talk', arguments: {} })
const post = (url: string, message: Params, headers: object = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  })
const parsed = (events: string): readonly Params[] =>
  [...events.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Params)

/** Returns every message until the answer. */
async function untilAnswer(next: () => Promise<Params>): Promise<readonly Params[]> {
  const received: Params[] = []
  while (received.at(-1)?.['id'] !== 1) received.push(await next())
  return received
}

const transports: { readonly [name: string]: () => Promise<readonly Params[]> } = {
  async 'Streamable HTTP of 2026-07-28'() {
    const message = modern()
    return parsed(await (await post(`http://${await serve()}/mcp`, message, headersFor(message))).text())
  },
  async 'Streamable HTTP in a session'() {
    const url = `http://${await serve()}/mcp`
    const hello = await post(url, initialize())
    await hello.text()
    return parsed(await (await post(url, legacy, { 'mcp-session-id': hello.headers.get('mcp-session-id') })).text())
  },
  async 'HTTP+SSE'() {
    const host = await serve()
    const events = await openEventStream(`http://${host}/sse`)
    onTestFinished(events.close)
    const messages = `http://${host}${await events.endpoint}`
    await post(messages, initialize('2024-11-05'))
    await events.next()
    await post(messages, legacy)
    return untilAnswer(events.next)
  },
  async WebSocket() {
    const socket = await openSocket(`ws://${await serve()}/ws`)
    onTestFinished(() => socket.ws.terminate())
    socket.ws.send(JSON.stringify(modern()))
    return untilAnswer(socket.next)
  },
  async stdio() {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const serving = serveStdio(server(), { input, output })
    onTestFinished(() => serving.close())
    input.write(`${JSON.stringify(modern())}\n`)
    let text = ''
    for await (const chunk of output) {
      text += String(chunk)
      if (text.endsWith('\n') && text.includes('"id":1,"result"')) break
    }
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Params)
  },
}

test.each(Object.keys(transports))(
  'twelve thousand log lines in one turn cost lines, not the connection: %s',
  async (way) => {
    const received = (await transports[way]?.()) ?? []
    expect(received.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    const logged = received.filter(({ method }) => method === 'notifications/message').length
    expect(logged).toBeGreaterThan(1_000)
    expect(logged).toBeLessThanOrEqual(lines)
  },
)
