import { describe, expect, test } from 'vitest'
import { createResponseParser } from './response-parser.ts'

interface Parsed {
  readonly status: number
  readonly body: string
  readonly end: boolean | undefined
  readonly type: string | undefined
}

/** Parses a text that arrives in pieces of `size` bytes; then the connection ends. */
function parse(text: string, size = text.length): Parsed & { readonly isComplete: boolean } {
  let status = 0
  let type: string | undefined
  let body = ''
  let end: boolean | undefined
  const parser = createResponseParser({
    head(head) {
      status = head.status
      type = head.headers.get('content-type')
    },
    data(chunk) {
      body += chunk.toString('latin1')
    },
    end(keepAlive) {
      end = keepAlive
    },
  })
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size))
  return { isComplete: parser.finish(), status, body, end, type }
}

const good: readonly (readonly [string, string, Partial<Parsed>])[] = [
  [
    'a length',
    'HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello',
    { body: 'hello', end: true, type: 'a/b' },
  ],
  ['no body', 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n', { status: 202, body: '', end: true }],
  ['204 without a length', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', end: true }],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n',
    { body: 'hello world', end: true },
  ],
  [
    'chunks with trailers',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\n\r\n',
    { body: 'a', end: true },
  ],
  ['a body until the end of the connection', 'HTTP/1.1 200 OK\r\n\r\nall of it', { body: 'all of it', end: false }],
  [
    'Connection: close',
    'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\na',
    { body: 'a', end: false },
  ],
  ...['Transfer-Encoding: chunked', 'Content-Length: 5'].map(
    (line) =>
      [
        `204 with ${line}`,
        `HTTP/1.1 204 No Content\r\n${line}\r\n\r\n`,
        { status: 204, body: '', end: false },
      ] as const,
  ),
  [
    'padding around a value',
    'HTTP/1.1 200 OK\r\nContent-Type: \t a/b\t \r\nContent-Length:\t1 \r\n\r\na',
    { body: 'a', type: 'a/b' },
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', { body: 'a', end: false }],
  [
    'an interim response',
    'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na',
    { status: 200, body: 'a' },
  ],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na', { body: 'a' }],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na', { body: 'a' }],
]
describe.each(good)('%s', (_, text, expected) => {
  test.each([1, 2, 3, 7, 1000])('in pieces of %i bytes', (size) => {
    expect(parse(text, size)).toMatchObject({ status: 200, isComplete: true, ...expected })
  })
})

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an unknown coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
  ['a header with a space in its name', 'HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\na'],
  ['a lone line feed in a header', 'HTTP/1.1 200 OK\r\nA: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a lone carriage return in a header', 'HTTP/1.1 200 OK\r\nA: b\rContent-Length: 1\r\n\r\na'],
  ['a line feed before a length', 'HTTP/1.1 200 OK\r\nContent-Length: \n1\r\n\r\na'],
  ['a carriage return after a length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\r\n\r\na'],
  ['another kind of space after a length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\u00a0\r\n\r\na'],
  ['a control character before a coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n'],
  ['a NUL in a header', 'HTTP/1.1 200 OK\r\nA: \0\r\nContent-Length: 1\r\n\r\na'],
  ['a line feed in the first line', 'HTTP/1.1 200 OK\nContent-Length: 0\r\nContent-Length: 1\r\n\r\na'],
  ['a status below 100', 'HTTP/1.1 099 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na'],
  ['an invalid size of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n'],
  [
    'a chunk that is longer than announced',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n',
  ],
  ['more bytes than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab'],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['an endless head', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(70_000)}`],
  ['an endless size', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1'.repeat(2000)}`],
])('%s is refused', (_, text) => {
  for (const size of [1, text.length]) expect(() => parse(text, size)).toThrow(/not HTTP/)
})

test.each([
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel',
  'HTTP/1.1 200',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
])('a response that breaks off is not complete: %j', (text) => {
  expect(parse(text).isComplete).toBe(false)
})

describe('several responses on one connection', () => {
  const response = (body: string, more = ''): string =>
    `HTTP/1.1 200 OK\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`
  function connection(): {
    readonly write: (text: string) => void
    readonly begin: () => void
    readonly seen: string[]
  } {
    const seen: string[] = []
    const parser = createResponseParser({
      head: ({ headers }) => seen.push(`head ${headers.get('a') ?? ''}`),
      data: (chunk) => seen.push(chunk.toString('latin1')),
      end: (keepAlive) => seen.push(`end ${keepAlive}`),
    })
    return { write: (text) => parser.write(Buffer.from(text, 'latin1')), begin: parser.begin, seen }
  }
  test('each has its own head and body, whether the head is repeated or not', () => {
    const { write, begin, seen } = connection()
    for (const [body, more] of [
      ['one', ''],
      ['two', ''],
      ['four', 'a: b\r\n'],
      ['five', 'a: c\r\n'],
    ] as const) {
      write(response(body, more))
      begin()
    }
    const [first, second] = [response('last').slice(0, 20), response('last').slice(20)]
    write(first)
    write(second)
    expect(seen).toEqual(
      ['', 'one', '', 'two', 'b', 'four', 'c', 'five', '', 'last'].flatMap((text, at) =>
        at % 2 === 0 ? [`head ${text}`] : [text, 'end true'],
      ),
    )
  })
  test('bytes before the next request are refused', () => {
    const { write, seen } = connection()
    write(response('one'))
    expect(() => write(response('two'))).toThrow('more bytes than announced')
    expect(seen).toEqual(['head ', 'one', 'end true'])
  })
  test('a response with bytes after it ends a connection that cannot be used again', () => {
    const { write, seen } = connection()
    expect(() => write(response('one') + response('two'))).toThrow('more bytes than announced')
    expect(seen).toEqual(['head ', 'one', 'end false'])
  })
  test('bytes of a response are not kept, because the next read is into the same buffer', () => {
    const seen: string[] = []
    const parser = createResponseParser({
      head: ({ headers }) => seen.push(headers.get('a') ?? ''),
      data: (chunk) => seen.push(chunk.toString('latin1')),
      end: () => seen.push('end'),
    })
    const text = response('body', 'a: b\r\n')
    const buffer = Buffer.alloc(text.length)
    for (let round = 0; round < 2; round++) {
      for (const part of [text.slice(0, 9), text.slice(9, 30), text.slice(30)]) {
        buffer.write(part, 'latin1')
        parser.write(buffer.subarray(0, part.length))
        buffer.fill('x')
      }
      parser.begin()
    }
    expect(seen).toEqual(['b', 'body', 'end', 'b', 'body', 'end'])
  })
})
