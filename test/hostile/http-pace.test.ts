/** Requests in the wrong order, of the wrong kind, or at the wrong speed, on raw sockets. */

import { admission, serveHttp } from 'sluice/node'
import { describe, expect, test } from 'vitest'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, request } from '../kit/clients/valid-messages.ts'
import { serveAttacked } from '../kit/servers/attacked-endpoint.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

const maxBodyBytes = 64 * 1024
const { serving, runs, port, sendRaw } = await serveAttacked({ maxBodyBytes })
const call = callOf(1, 'echo', { text: 'a' })
const body = JSON.stringify(call)
const ran = (): number => runs.get('echo') ?? 0
const host = `127.0.0.1:${port}`

const withHeaders = (...more: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] => [
  ['host', host],
  ...Object.entries(headersFor(call)),
  ['content-length', String(Buffer.byteLength(body))],
  ...more,
]

describe('order and timing', () => {
  test('pipelined requests are answered in order, whatever takes longer', async () => {
    const http = await rawHttp(port)
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`)
    const messages = texts.map((text, id) => (id % 3 === 0 ? request(id, 'nonsense') : callOf(id, 'echo', { text })))
    http.write(Buffer.concat(messages.map((message) => toPost(port, JSON.stringify(message), headersFor(message)))))
    for (const [id, text] of texts.entries()) {
      const answer: unknown = JSON.parse((await http.next()).body)
      if (id % 3 === 0) expect(answer).toMatchObject({ id, error: {} })
      else expect(answer).toMatchObject({ id, result: { content: [{ text }] } })
    }
    http.destroy()
  })

  test('a request in single bytes is served', async () => {
    const http = await rawHttp(port)
    for (const byte of toPost(port, body, headersFor(call))) http.write(Buffer.from([byte]))
    expect((await http.next()).status).toBe(200)
    http.destroy()
  })

  test('Expect: 100-continue is answered with 100, and then served', async () => {
    const http = await sendRaw(withHeaders(['content-type', 'application/json'], ['expect', '100-continue']), '')
    expect((await http.next()).status).toBe(100)
    http.write(body)
    expect((await http.next()).status).toBe(200)
    http.destroy()
  })

  test.each<[string, readonly (readonly [string, string])[], number]>([
    ['a type that is not served', [['content-type', 'text/plain']], 415],
    ['a length that is too large', [['content-type', 'application/json']], 413],
    [
      'a foreign origin',
      [
        ['content-type', 'application/json'],
        ['origin', 'https://evil.example'],
      ],
      403,
    ],
  ])('Expect: 100-continue with %s gets the refusal, and nothing before it', async (_, headers, status) => {
    const length = status === 413 ? String(maxBodyBytes + 1) : '10'
    const fields = [['host', host], ['content-length', length], ['expect', '100-continue'], ...headers] as const
    const http = await sendRaw(fields, '')
    expect((await http.next()).status).toBe(status)
    // The next bytes could be the body or the next request; both are possible.
    await http.closed
  })

  test('Expect: 100-continue from a client that is not admitted gets 503, and nothing before it', async () => {
    const full = await serveHttp(createAttackedServer().server, {
      port: 0,
      admission: admission({ concurrency: 1, queue: 0 }),
    })
    const at = Number(new URL(full.url).port)
    const busy = await rawHttp(at)
    const wait = callOf(1, 'wait')
    busy.write(toPost(at, JSON.stringify(wait), headersFor(wait)))
    const ask = requestHead([
      ['host', `127.0.0.1:${at}`],
      ['content-type', 'application/json'],
      ['content-length', '10'],
      ['expect', '100-continue'],
    ])
    for (let status = 0; status !== 503; ) {
      const http = await rawHttp(at)
      http.write(ask)
      // Until the first call has its slot, one is free.
      status = (await http.next()).status
      http.destroy()
    }
    busy.destroy()
    await full.close()
  })

  test.each(['text/plain', 'application/json'])('an endless body of %s is closed after the refusal', async (type) => {
    const fields = { host, 'content-type': type, 'transfer-encoding': 'chunked' }
    const http = await sendRaw(fields, '')
    http.socket.on('error', () => {})
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')])
    let sent = 0
    let over = false
    const onClosed = (): void => {
      over = true
    }
    http.closed.then(onClosed, onClosed)
    const status = http.next()
    while (!over && sent < 200 * 1024 * 1024) {
      sent += chunk.length
      if (!http.socket.write(chunk)) await new Promise(setImmediate)
    }
    expect((await status).status).toBe(type === 'text/plain' ? 415 : 413)
    // Includes what is still read, and what the kernel buffers.
    expect(sent).toBeLessThan(40 * 1024 * 1024)
    await http.closed
  })

  test('an unknown expectation is refused', async () => {
    const before = ran()
    const http = await sendRaw(withHeaders(['content-type', 'application/json'], ['expect', 'miracles']), body)
    expect((await http.next()).status).toBe(417)
    expect(ran()).toBe(before)
    http.destroy()
  })

  test('an unsupported upgrade is served as an ordinary request', async () => {
    const http = await sendRaw(
      withHeaders(['content-type', 'application/json'], ['connection', 'upgrade'], ['upgrade', 'websocket']),
      body,
    )
    expect((await http.next()).status).toBe(200)
    http.destroy()
  })

  test('a CONNECT is refused', async () => {
    const http = await rawHttp(port)
    http.write(`CONNECT evil.example:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await http.closed
  })

  test.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    '%s is not allowed, and the answer says which are',
    async (method) => {
      const before = ran()
      const http = await sendRaw(
        withHeaders(['content-type', 'application/json']),
        method === 'HEAD' ? '' : body,
        method,
      )
      // An answer to HEAD announces a body that never comes.
      const head = method === 'HEAD' ? await http.seen(/\r\n\r\n/) : undefined
      const { status, headers } =
        head === undefined
          ? await http.next()
          : { status: Number(head.split(' ')[1]), headers: new Map([['allow', head]]) }
      expect(status).toBe(405)
      expect(headers.get('allow')).toMatch(/POST/)
      expect(ran()).toBe(before)
      http.destroy()
    },
  )
})

describe('slow clients', () => {
  test('the server limits how slowly a request may arrive, and checks often', () => {
    expect(serving.server.headersTimeout).toBe(5_000)
    expect(serving.server.requestTimeout).toBe(15_000)
    expect(serving.server).toMatchObject({ connectionsCheckingInterval: 1_000 })
    expect(serving.server.keepAliveTimeout).toBeLessThanOrEqual(10_000)
    expect(serving.server.maxConnections).toBe(10_000)
  })

  test('a body that arrives byte by byte without end is closed, also after a refusal', async () => {
    const own = await serveHttp(createAttackedServer().server, { port: 0, maxBodyBytes: 1000 })
    const at = Number(new URL(own.url).port)
    const http = await rawHttp(at)
    http.write(
      requestHead({ host: `127.0.0.1:${at}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
    )
    let over = false
    const onClosed = (): void => {
      over = true
    }
    http.closed.then(onClosed, onClosed)
    const drip = (): void => {
      if (over) return
      http.write(`64\r\n${'x'.repeat(100)}\r\n`)
      setTimeout(drip, 5)
    }
    drip()
    expect((await http.next()).status).toBe(413)
    own.server.headersTimeout = 1
    own.server.requestTimeout = 1
    await http.closed
    http.destroy()
    await own.close()
  })
})
