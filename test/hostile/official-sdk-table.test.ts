/**
 * Input that the official SDK 2.4.0 executes, rounds, drops or crashes on, and what Sluice does instead. The table was
 * measured; each test is one of its rows.
 */

import type { Params } from 'sluice'
import { serveHttp } from 'sluice/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Pipe } from '../kit/clients/in-process-stdio.client.ts'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import type { RawResponse } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, initialize, modern, request } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

const honest = callOf(7, 'echo', { text: 'VALUE' })
const honestText = JSON.stringify(honest)
const deep = '['.repeat(100_000) + ']'.repeat(100_000)

/** Bytes in place of the echoed text. */
const withValue = (bytes: string | Buffer): Buffer => {
  const [head = '', tail = ''] = honestText.split('"VALUE"')
  return Buffer.concat([Buffer.from(head), Buffer.from(bytes as string), Buffer.from(tail)])
}

interface Row {
  readonly input: string
  readonly bytes: Buffer
  readonly code: number
  /** Whether the refusal names the request. */
  readonly answersTo: number | undefined
}
const rows: readonly Row[] = [
  {
    input: 'invalid UTF-8 in a string',
    bytes: withValue(Buffer.from([0x22, 0xc3, 0x28, 0x22])),
    code: -32700,
    answersTo: undefined,
  },
  { input: 'nesting 100 000 levels deep', bytes: withValue(deep), code: -32600, answersTo: undefined },
  {
    input: 'the member "method" twice',
    bytes: Buffer.from(honestText.replace('{', '{"method":"ping",')),
    code: -32600,
    answersTo: undefined,
  },
  {
    input: '__proto__ in the arguments',
    bytes: Buffer.from(honestText.replace('"text":', '"__proto__":{"admin":true},"text":')),
    code: -32602,
    answersTo: 7,
  },
  {
    input: 'the id 2^53 + 1',
    bytes: Buffer.from(honestText.replace('"id":7', '"id":9007199254740993')),
    code: -32600,
    answersTo: undefined,
  },
  { input: 'garbage', bytes: Buffer.from('GET / HTTP/1.1'), code: -32700, answersTo: undefined },
  {
    input: 'the id null',
    bytes: Buffer.from(honestText.replace('"id":7', '"id":null')),
    code: -32600,
    answersTo: undefined,
  },
  { input: 'a batch', bytes: Buffer.from(`[${honestText}]`), code: -32600, answersTo: undefined },
]

const expectRefusal = (answer: Params, { code, answersTo }: Row): void => {
  expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code } })
  expect(answer['id']).toBe(answersTo)
  expect(answer).not.toHaveProperty('result')
}

describe('over HTTP', () => {
  const { server, runs } = createAttackedServer()
  let port = 0
  let close = async (): Promise<void> => {}
  beforeAll(async () => {
    const serving = await serveHttp(server, { port: 0 })
    port = Number(new URL(serving.url).port)
    close = serving.close
  })
  afterAll(() => close())

  const post = async (bytes: Buffer): Promise<RawResponse> => {
    const http = await rawHttp(port)
    const response = await http.post(bytes, headersFor(honest))
    http.destroy()
    return response
  }
  const expectAlive = async (): Promise<void> => {
    const { status, body } = await post(Buffer.from(honestText))
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ id: 7, result: { content: [{ text: 'VALUE' }] } })
  }

  test.each(rows)('$input: $code', async (row) => {
    const before = runs.get('echo') ?? 0
    const { status, body } = await post(row.bytes)
    expectRefusal(JSON.parse(body), row)
    expect(status).toBe(row.answersTo === undefined ? 400 : 200)
    expect(runs.get('echo') ?? 0).toBe(before)
    await expectAlive()
  })

  test.each(['with its length', 'in chunks, without a length'])(
    'a body of 200 MB, %s: 413, and the server survives',
    async (how) => {
      const http = await rawHttp(port)
      const length = 200 * 1024 * 1024
      const chunked = how !== 'with its length'
      const kind = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }
      http.write(
        requestHead({ host: `127.0.0.1:${port}`, 'content-type': 'application/json', ...headersFor(honest), ...kind }),
      )
      const piece = Buffer.alloc(1024 * 1024, 'x')
      const chunk = chunked
        ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
        : piece
      let over = false
      const onClosed = (): void => {
        over = true
      }
      http.closed.then(onClosed, onClosed)
      let written = 0
      const response = http.next()
      while (written < length && !over) {
        const more = http.socket.write(chunk)
        written += piece.length
        if (!more) await Promise.race([http.closed, new Promise((resolve) => http.socket.once('drain', resolve))])
      }
      const { status, body } = await response
      expect(status).toBe(413)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 41300, data: { reason: 'payloadTooLarge' } } })
      expect(JSON.parse(body)).not.toHaveProperty('id')
      http.destroy()
      await expectAlive()
    },
  )

  test.each([
    ['Origin and Host', 'evil.example', 'http://evil.example'],
    ['Host alone', 'evil.example', undefined],
    ['Origin alone', undefined, 'http://evil.example'],
  ])('evil.example as %s: 403', async (_, host, origin) => {
    const before = runs.get('echo') ?? 0
    const http = await rawHttp(port)
    const head = toPost(port, honestText, { ...headersFor(honest), ...(origin && { origin }) }).toString()
    http.write(host ? head.replace(/host: .*/, `host: ${host}`) : head)
    const { status, body } = await http.next()
    expect(status).toBe(403)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 40310, data: { reason: 'badOrigin' } } })
    expect(runs.get('echo') ?? 0).toBe(before)
    http.destroy()
  })

  test('an id that is in use, in one session: the second is refused, the first is answered', async () => {
    const first = await rawHttp(port)
    const session = {
      'mcp-session-id': String((await first.post(JSON.stringify(initialize()))).headers.get('mcp-session-id')),
    }
    const second = await rawHttp(port)
    const waited = first.post(JSON.stringify(request(5, 'tools/call', { name: 'wait', arguments: {} })), session)
    await expect.poll(() => runs.get('wait')).toBe(1)
    const refused = await second.post(
      JSON.stringify(request(5, 'tools/call', { name: 'echo', arguments: { text: 'a' } })),
      session,
    )
    expect(JSON.parse(refused.body)).toMatchObject({ id: 5, error: { code: -32600 } })
    expect(refused.status).toBe(400)
    const cancelled = await second.post(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }),
      session,
    )
    expect(cancelled.status).toBe(202)
    expect((await waited).body).toBe('')
    first.destroy()
    second.destroy()
  })

  test("the header cannot turn an error into another era's", async () => {
    const http = await rawHttp(port)
    const { body } = await http.post('nonsense', { 'mcp-protocol-version': modern })
    expect(JSON.parse(body)).toMatchObject({ error: { code: -32700 } })
    http.destroy()
  })
})

describe('over stdio', () => {
  const { server, runs } = createAttackedServer()
  let pipe: Pipe
  beforeAll(() => {
    pipe = pipeTo(server)
  })
  afterAll(async () => {
    pipe.end()
    await pipe.serving.closed
  })
  const expectAlive = async (): Promise<void> => {
    pipe.send(honest)
    expect(await pipe.next()).toMatchObject({ id: 7, result: { content: [{ text: 'VALUE' }] } })
  }

  test.each(rows)('$input: $code', async (row) => {
    const before = runs.get('echo') ?? 0
    pipe.write(Buffer.concat([row.bytes, Buffer.from('\n')]))
    const received = await pipe.settled()
    expect(received).toHaveLength(1)
    expectRefusal(received[0] ?? {}, row)
    expect(runs.get('echo') ?? 0).toBe(before)
    await expectAlive()
  })

  test('a line of 12 MB: one error, and later calls are answered', async () => {
    pipe.write(Buffer.alloc(12 * 1024 * 1024, 'x'))
    pipe.write('\n')
    const received = await pipe.settled()
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ jsonrpc: '2.0', error: { data: { reason: 'payloadTooLarge' } } })
    expect(received[0]).not.toHaveProperty('id')
    await expectAlive()
  })

  test('an id that is in use: the second is refused, the first is answered once', async () => {
    const before = runs.get('echo') ?? 0
    pipe.send(callOf(5, 'wait'))
    pipe.send(callOf(5, 'echo', { text: 'a' }))
    expect(await pipe.next()).toMatchObject({ id: 5, error: { code: -32600 } })
    expect(runs.get('echo') ?? 0).toBe(before)
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    expect(await pipe.settled()).toEqual([])
    expect(runs.get('wait stopped')).toBe(1)
    // The id is free again.
    pipe.send(callOf(5, 'echo', { text: 'again' }))
    expect(await pipe.next()).toMatchObject({ id: 5, result: { content: [{ text: 'again' }] } })
  })

  test('the id of the handshake is in use while it runs', async () => {
    const own = pipeTo(createAttackedServer().server)
    own.write(
      `${JSON.stringify(initialize('2025-11-25', 1))}\n${JSON.stringify(request(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } }))}\n`,
    )
    const received = await own.settled()
    expect(received.filter((line) => 'result' in line)).toHaveLength(1)
    expect(received.filter((line) => 'error' in line)).toMatchObject([{ id: 1, error: { code: -32600 } }])
    own.end()
    await own.serving.closed
  })
})
