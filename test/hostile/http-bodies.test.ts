/** Requests with invalid bodies or headers, on raw sockets. */

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Headers } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'
import { serveAttacked } from '../kit/servers/attacked-endpoint.fixture.ts'

const maxBodyBytes = 64 * 1024
const { runs, port, sendRaw } = await serveAttacked({ maxBodyBytes })
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

describe('content types', () => {
  test.each([
    ...[
      'text/plain',
      'text/plain; charset=utf-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/html',
      'text/json',
    ],
    ...[
      'application/json-rpc',
      'application/jsonp',
      'application/ld+json',
      'application/json5',
      'xapplication/json',
      'application/json/x',
      'json',
    ],
    ...[
      'text/plain; application/json',
      'application/x; q="application/json"',
      'text/plain, application/json',
      'application/json, text/plain',
    ],
    ...['application/json; charset=utf-16', 'application/json; charset=latin1', 'application/json; charset=utf-7'],
    ...['*/*', 'application/*', '', ' ', ';'],
  ])('%j is refused, and nothing runs', async (type) => {
    const before = ran()
    const http = await sendRaw(withHeaders(['content-type', type]), body)
    const { status, body: said } = await http.next()
    expect(status).toBe(415)
    expect(JSON.parse(said)).toMatchObject({ error: { data: { reason: 'unsupportedMedia' } } })
    expect(ran()).toBe(before)
    http.destroy()
  })

  test('a missing one is refused, and nothing runs', async () => {
    const before = ran()
    const http = await sendRaw(withHeaders(), body)
    expect((await http.next()).status).toBe(415)
    expect(ran()).toBe(before)
    http.destroy()
  })

  test.each([
    ['text/plain', 'application/json'],
    ['application/json', 'text/plain'],
    ['application/json; charset=utf-8', 'text/plain'],
    ['application/json; x=y', 'application/json; charset=latin1'],
  ])('two that differ, %j and %j, are both refused', async (first, second) => {
    const before = ran()
    const http = await sendRaw(withHeaders(['content-type', first], ['Content-Type', second]), body)
    expect((await http.next()).status).toBe(415)
    expect(ran()).toBe(before)
    http.destroy()
  })

  test('the same one twice counts once', async () => {
    const twice = withHeaders(['content-type', 'application/json'], ['Content-Type', 'application/json'])
    const http = await sendRaw(twice, body)
    expect((await http.next()).status).toBe(200)
    http.destroy()
  })

  test.each([
    ...[
      'application/json',
      'Application/JSON',
      'APPLICATION/JSON',
      'application/json;charset=utf-8',
      'Application/JSON; charset=UTF-8',
      'application/json; charset="utf-8"',
    ],
    ...['application/json ; charset=utf-8', 'application/json; boundary=x', 'application/json;', '\tapplication/json'],
  ])('%j is served', async (type) => {
    const http = await sendRaw(withHeaders(['content-type', type]), body)
    expect((await http.next()).status).toBe(200)
    http.destroy()
  })

  test('a form that any page could send runs nothing', async () => {
    const before = ran()
    const forms: readonly (readonly [string, string])[] = [
      ['text/plain', `${body.slice(0, -1)},"x=":"="}`],
      ['application/x-www-form-urlencoded', `message=${encodeURIComponent(body)}`],
      [
        'multipart/form-data; boundary=x',
        `--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n${body}\r\n--x--`,
      ],
    ]
    for (const [type, form] of forms) {
      const http = await sendRaw({ host, 'content-type': type, 'content-length': String(form.length) }, form)
      expect((await http.next()).status).toBe(415)
      http.destroy()
    }
    expect(ran()).toBe(before)
  })
})

describe('compressed bodies', () => {
  const zeros = Buffer.alloc(8 * 1024 * 1024)
  test.each([
    ['gzip', gzipSync(body)],
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    ['deflate', Buffer.from(body)],
    ['zstd', Buffer.from(body)],
    ['compress', Buffer.from(body)],
    ['x-unknown', Buffer.from(body)],
    ['identity, gzip', gzipSync(body)],
    ['GZIP', gzipSync(body)],
    ['', Buffer.from(body)],
  ])('%j is refused without being decompressed', async (encoding, bytes) => {
    const before = ran()
    const heap = process.memoryUsage().arrayBuffers
    const http = await rawHttp(port)
    const { status, body: said } = await http.post(bytes, { ...headersFor(call), 'content-encoding': encoding })
    expect(status).toBe(415)
    expect(JSON.parse(said)).toMatchObject({ error: { data: { reason: 'unsupportedMedia' } } })
    expect(process.memoryUsage().arrayBuffers - heap).toBeLessThan(zeros.length)
    expect(ran()).toBe(before)
    http.destroy()
  })

  test('identity is not compression', async () => {
    const http = await rawHttp(port)
    expect((await http.post(body, { ...headersFor(call), 'content-encoding': 'Identity' })).status).toBe(200)
    http.destroy()
  })

  test('a compressed body without the header is not JSON', async () => {
    const http = await rawHttp(port)
    expect((await http.post(gzipSync(body), headersFor(call))).status).toBe(400)
    http.destroy()
  })
})

describe('sizes', () => {
  const padded = (bytes: number): string => body + ' '.repeat(bytes - body.length)
  const chunks = (bytes: string | Buffer, size: number): Buffer => {
    const all = Buffer.from(bytes as string)
    const parts: Buffer[] = []
    for (let at = 0; at < all.length; at += size) {
      const part = all.subarray(at, at + size)
      parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
    }
    return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
  }
  const chunkedHeaders = (): Headers => ({
    host,
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
    ...headersFor(call),
  })

  test('exactly the limit is served, one byte more is not, and the connection stays open', async () => {
    const http = await rawHttp(port)
    expect((await http.post(padded(maxBodyBytes), headersFor(call))).status).toBe(200)
    expect((await http.post(padded(maxBodyBytes + 1), headersFor(call))).status).toBe(413)
    expect((await http.post(body, headersFor(call))).status).toBe(200)
    http.destroy()
  })

  test('the same in chunks, of one byte or of many', async () => {
    for (const size of [7, 1000, maxBodyBytes * 2]) {
      const http = await rawHttp(port)
      http.write(requestHead(chunkedHeaders()))
      http.write(chunks(padded(maxBodyBytes), size))
      expect((await http.next()).status).toBe(200)
      http.write(requestHead(chunkedHeaders()))
      http.write(chunks(padded(maxBodyBytes + 1), size))
      const refused = await http.next()
      expect(refused.status).toBe(413)
      expect(JSON.parse(refused.body)).toMatchObject({
        error: { code: 41300, data: { reason: 'payloadTooLarge', maxBytes: maxBodyBytes } },
      })
      expect((await http.post(body, headersFor(call))).status).toBe(200)
      http.destroy()
    }
  })

  test('a declared length that is too large is refused before a byte of it arrives', async () => {
    const http = await sendRaw({ host, 'content-type': 'application/json', 'content-length': '999999999999' }, '')
    expect((await http.next()).status).toBe(413)
    http.destroy()
  })

  test('the bytes after a body that was too large are the next request, not its rest', async () => {
    const before = ran()
    const smuggled = toPost(port, body, headersFor(call)).toString()
    const large = smuggled + 'x'.repeat(maxBodyBytes)
    const http = await rawHttp(port)
    http.write(Buffer.concat([toPost(port, large, headersFor(call)), toPost(port, body, headersFor(call))]))
    expect((await http.next()).status).toBe(413)
    expect((await http.next()).status).toBe(200)
    expect(ran()).toBe(before + 1)
    http.destroy()
  })

  test('the bytes after a body that was never read are the next request, not its rest', async () => {
    const before = ran()
    const smuggled = toPost(port, body, headersFor(call))
    const http = await rawHttp(port)
    http.write(Buffer.concat([toPost(port, smuggled, { 'content-encoding': 'gzip' }), smuggled]))
    expect((await http.next()).status).toBe(415)
    expect((await http.next()).status).toBe(200)
    expect(ran()).toBe(before + 1)
    http.destroy()
  })

  test('headers past 16 KB are refused', async () => {
    const http = await sendRaw(
      withHeaders(['content-type', 'application/json'], ['x-large', 'x'.repeat(17 * 1024)]),
      body,
    )
    expect((await http.next()).status).toBe(431)
    await http.closed
  })

  test('thousands of headers do no harm', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => [`x${index}`, '1'] as const)
    const http = await sendRaw(withHeaders(['content-type', 'application/json'], ...many), body)
    expect([200, 431]).toContain((await http.next().catch(() => ({ status: 431 }))).status)
    http.destroy()
  })

  test('an empty body is a parse error', async () => {
    const http = await rawHttp(port)
    const { status, body: said } = await http.post('', headersFor(call))
    expect(status).toBe(400)
    expect(JSON.parse(said)).toMatchObject({ error: { code: -32700 } })
    http.destroy()
  })
})

describe('ambiguous framing is refused and closes the connection', () => {
  const expectNothing = async (headers: Headers, bytes: string): Promise<void> => {
    const before = ran()
    const http = await sendRaw(headers, bytes)
    const { status } = await http.next()
    expect(status).toBe(400)
    await http.closed
    expect(ran()).toBe(before)
    http.destroy()
  }
  const json = ['content-type', 'application/json'] as const

  test('two lengths that differ', () => expectNothing(withHeaders(json, ['content-length', '5']), body))
  test('a length and chunks', () =>
    expectNothing(
      withHeaders(json, ['transfer-encoding', 'chunked']),
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ))
  test('a length that is not a number', () => expectNothing([['host', host], json, ['content-length', 'abc']], body))
  test('a negative length', () => expectNothing([['host', host], json, ['content-length', '-1']], body))
  test('a length in hexadecimal', () => expectNothing([['host', host], json, ['content-length', '0x10']], body))
  test('chunks of an unknown kind', () =>
    expectNothing([['host', host], json, ['transfer-encoding', 'chunked, gzip']], body))
  test('a chunk whose size is not a number', () =>
    expectNothing(
      [['host', host], json, ...Object.entries(headersFor(call)), ['transfer-encoding', 'chunked']],
      'xyz\r\n',
    ))
  test('a header with a space before its colon', () =>
    expectNothing([['host', host], json, ['content-length ', '5']], body))
  test('a line feed without its carriage return in a header', () =>
    expectNothing([['host', host], ['x', 'a\nx: b'], json], body))
  test('a NUL in a header', () => expectNothing([['host', host], ['x', 'a\0b'], json], body))
})
