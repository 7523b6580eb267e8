/** `sluice/client` over HTTP against servers that lie, flood and stall: each request ends, with an error that says why. */

import type { ServerResponse } from 'node:http'
import type { Client, ClientOptions } from 'sluice/client'
import { ClientError, connect, fetchSender, httpTransport, ServerError, sseTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { fakeClock } from 'sluice/testing'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Asked } from './hostile-server.ts'
import { answerTo, hostileServer, sendJson } from './hostile-server.ts'

const sender = createNodeSender()
afterAll(() => sender.close())
const senders = { 'node:http': sender.send, fetch: fetchSender() } as const
const maxMessageBytes = 64 * 1024

interface Opened {
  readonly client: Client
  readonly ignored: string[]
}

describe.each(Object.entries(senders))('through %s', (_name, send) => {
  async function open(
    respond: (asked: Asked, response: ServerResponse, url: string) => void,
    options: ClientOptions = {},
  ): Promise<Opened> {
    const url = await hostileServer(respond)
    const ignored: string[] = []
    const client = await connect(httpTransport(url, { sender: send, maxMessageBytes }), {
      onIgnored: (problem) => ignored.push(problem),
      ...options,
    })
    onTestFinished(() => client.close())
    return { client, ignored }
  }
  const call = ({ client }: Opened): Promise<unknown> => client.callTool('a')

  /** Answers as text, and why they are refused. */
  const bad: readonly (readonly [what: string, text: (id: number) => string, reason: string])[] = [
    ['no JSON', () => 'hello', 'protocol'],
    ['half a JSON', () => '{"jsonrpc":"2.0",', 'protocol'],
    ['nothing', () => '', 'protocol'],
    ['null', () => 'null', 'protocol'],
    ['a number', () => '42', 'protocol'],
    ['an empty array', () => '[]', 'protocol'],
    ['an array of numbers', () => '[1,2]', 'protocol'],
    ['a response without an id', () => '{"jsonrpc":"2.0","result":{}}', 'protocol'],
    ['another id', (id) => `{"jsonrpc":"2.0","id":${id + 1},"result":{}}`, 'protocol'],
    ['the id as a string', (id) => `{"jsonrpc":"2.0","id":"${id}","result":{}}`, 'protocol'],
    ['an object as id', () => '{"jsonrpc":"2.0","id":{},"result":{}}', 'protocol'],
    ['neither result nor error', (id) => `{"jsonrpc":"2.0","id":${id}}`, 'protocol'],
    ['a result that is a string', (id) => `{"jsonrpc":"2.0","id":${id},"result":"x"}`, 'protocol'],
    ['a result that is null', (id) => `{"jsonrpc":"2.0","id":${id},"result":null}`, 'protocol'],
    [
      'a million levels',
      (id) => `{"jsonrpc":"2.0","id":${id},"result":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
      'protocol',
    ],
    ['too many bytes', (id) => `{"jsonrpc":"2.0","id":${id},"result":{"a":"${'x'.repeat(70_000)}"}}`, 'tooLarge'],
  ]
  test.each(bad)('%s as an answer is refused', async (_what, text, reason) => {
    const opened = await open((asked, response) => sendJson(response, text(asked.id)))
    await expect(call(opened)).rejects.toMatchObject({ name: 'ClientError', reason })
  })
  test.each(bad)('%s in a stream is refused', async (_what, text) => {
    const opened = await open((asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${text(asked.id)}\n\n`)
    })
    await expect(call(opened)).rejects.toBeInstanceOf(ClientError)
  })
  test('an error that is not one is still an error', async () => {
    for (const error of ['"no"', 'null', '[]', '{}', '{"code":"x","message":{}}', '{"code":1.5}']) {
      const opened = await open((asked, response) =>
        sendJson(response, `{"jsonrpc":"2.0","id":${asked.id},"error":${error}}`),
      )
      await expect(call(opened)).rejects.toBeInstanceOf(ServerError)
    }
  })
  test('a body without end is cut off', async () => {
    let written = 0
    const opened = await open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        if (response.destroyed) return
        written += 16_384
        response.write('x'.repeat(16_384), more)
      }
      more()
    })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'tooLarge' })
    // Buffers of the sockets aside.
    expect(written).toBeLessThan(16 * 1024 * 1024)
  })
  test('a line without end is cut off', async () => {
    const opened = await open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        if (!response.destroyed) response.write(`data: ${'x'.repeat(16_384)}`, more)
      }
      more()
    })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'tooLarge' })
  })
  test('a declared length of a gigabyte is refused unread', async () => {
    const opened = await open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 ** 30 }).write('{')
    })
    const failed = call(opened)
    if (send === senders.fetch) await opened.client.close()
    await expect(failed).rejects.toBeInstanceOf(ClientError)
  })
  test('a flood of notifications does not outlive the deadline', async () => {
    const clock = fakeClock()
    let notified = 0
    const opened = await open(
      (_asked, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const more = (): void => {
          const note = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}\n\n`
          if (!response.destroyed) response.write(note.repeat(100), () => setImmediate(more))
        }
        more()
      },
      {
        clock,
        onNotification() {
          if (++notified === 5000) clock.jump(60_000)
        },
      },
    )
    await expect(call(opened)).rejects.toMatchObject({ reason: 'timeout', mayHaveRun: true })
    expect(notified).toBeGreaterThanOrEqual(5000)
  })
  test('a server that never answers is given up at the deadline', async () => {
    const clock = fakeClock()
    const opened = await open(() => clock.jump(60_000), { clock })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'timeout' })
  })
  test('a stream that ends without the answer is an error, and in doubt', async () => {
    const opened = await open((_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
    })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'closed', mayHaveRun: true })
  })
  test('a connection that breaks is an error, and in doubt', async () => {
    for (const head of [false, true]) {
      const opened = await open((_asked, response) => {
        if (head) response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{')
        setImmediate(() => response.destroy())
      })
      await expect(call(opened)).rejects.toMatchObject({ name: 'ClientError', mayHaveRun: true })
    }
  })
  test.each([301, 302, 303, 307, 308])('a redirect to another host is not followed (%i)', async (status) => {
    let visited = 0
    const elsewhere = await hostileServer((asked, response) => {
      visited++
      sendJson(response, answerTo(asked, {}))
    }, true)
    const opened = await open((_asked, response) => {
      response.writeHead(status, { location: elsewhere }).end()
    })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'refusedAddress' })
    expect(visited).toBe(0)
  })
  test('a redirect that leads in circles ends', async () => {
    const opened = await open((_asked, response, url) => {
      response.writeHead(307, { location: url }).end()
    })
    await expect(call(opened)).rejects.toBeInstanceOf(ClientError)
  })
  test('an answer that is not MCP is reported with its status', async () => {
    const opened = await open((_asked, response) => {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    })
    await expect(call(opened)).rejects.toMatchObject({ reason: 'status', status: 502, mayHaveRun: true })
  })
  test('a second answer and answers to other requests are ignored', async () => {
    const opened = await open((asked, response) => {
      const other = answerTo({ ...asked, id: 999 }, { content: [] })
      const answer = answerTo(asked, { content: [{ type: 'text', text: 'first' }] })
      const second = answerTo(asked, { content: [{ type: 'text', text: 'second' }] })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end([other, answer, second].map((text) => `data: ${text}\n\n`).join(''))
    })
    expect(await call(opened)).toMatchObject({ content: [{ text: 'first' }] })
    expect(opened.ignored).toHaveLength(1)
  })
  test('a request by a server of 2026-07-28 is ignored', async () => {
    const opened = await open(
      (asked, response) => {
        const question = { jsonrpc: '2.0', id: 1, method: 'roots/list' }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify(question)}\n\ndata: ${answerTo(asked, {})}\n\n`)
      },
      { handlers: { roots: () => expect.unreachable() } },
    )
    await call(opened)
    expect(opened.ignored[0]).toContain('roots/list')
  })
  test('a server that asks for what was not declared is refused', async () => {
    const opened = await open(
      (asked, response) =>
        sendJson(
          response,
          answerTo(asked, { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage' } } }),
        ),
      { handlers: { form: () => expect.unreachable() } },
    )
    await expect(call(opened)).rejects.toMatchObject({ reason: 'protocol' })
  })
  test('a server that asks without end is left', async () => {
    let asked = 0
    const opened = await open(
      (message, response) =>
        sendJson(
          response,
          answerTo(message, { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } }),
        ),
      {
        handlers: {
          roots: () => {
            asked++
            return { roots: [] }
          },
        },
      },
    )
    await expect(call(opened)).rejects.toMatchObject({ reason: 'protocol' })
    expect(asked).toBe(10)
  })
  test.each([
    ['the same cursor again', () => 'x'],
    ['cursors without end', (page: number) => String(page)],
    ['a cursor that is not a string', () => 7],
  ])('a list with %s ends', async (_what, cursor) => {
    let page = 0
    const opened = await open((asked, response) =>
      sendJson(response, answerTo(asked, { tools: [], nextCursor: cursor(++page) })),
    )
    const list = async (): Promise<void> => {
      for await (const _tool of opened.client.tools()) expect.unreachable()
    }
    await expect(list()).rejects.toMatchObject({ reason: 'protocol' })
    expect(page).toBeLessThanOrEqual(1000)
  })
})

test('HTTP+SSE: an address for messages on another host is refused', async () => {
  const url = await hostileServer((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: endpoint\ndata: https://evil.example/messages\n\n')
  }, true)
  await expect(connect(sseTransport(url))).rejects.toMatchObject({ reason: 'refusedAddress' })
})

test.each(['at its deadline', 'when its caller gives up'])(
  'HTTP+SSE: a stream that names no address is left %s',
  async (when) => {
    const clock = fakeClock()
    const caller = new AbortController()
    const left = Promise.withResolvers<void>()
    const url = await hostileServer((_asked, response) => {
      response.on('close', left.resolve)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: other\ndata: 1\n\n', () => {
        if (when === 'at its deadline') clock.jump(60_000)
        else caller.abort()
      })
    }, true)
    const opened = connect(sseTransport(url), { clock, signal: caller.signal })
    await expect(opened).rejects.toMatchObject({
      reason: when === 'at its deadline' ? 'timeout' : 'cancelled',
      mayHaveRun: false,
    })
    await left.promise
    expect(clock.pending).toBe(0)
  },
)
