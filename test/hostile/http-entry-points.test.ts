/** What every HTTP entry point must refuse; a transport or mount is one more row of `http-entry-points.ts`. */

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { authenticate } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import library from '../../packages/sluice/package.json' with { type: 'json' }
import type { EntryPoint, HeaderLine } from '../kit/clients/http-entry-points.ts'
import { httpEntryPoints } from '../kit/clients/http-entry-points.ts'
import { messagePaths } from '../kit/clients/message-paths.ts'
import { callOf } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

const maxBodyBytes = 64 * 1024

/** Entries that are transports, but not into a server. */
const otherEnds: readonly string[] = ['./websocket-client']

test('every transport that the package exports has its entry point and its path here', () => {
  const transports = Object.entries(library.exports)
    .filter(([entry, { types }]) => entry === './node' || types.startsWith('./dist/transports/'))
    .map(([entry]) => entry)
    .filter((entry) => !otherEnds.includes(entry))
  expect(transports.length).toBeGreaterThanOrEqual(5)
  for (const entry of transports) {
    expect([entry, httpEntryPoints.some((kind) => kind.entry === entry)]).toEqual([entry, true])
    expect([entry, messagePaths.some((kind) => kind.entry === entry)]).toEqual([entry, true])
  }
})

describe.each(httpEntryPoints)('$name', ({ open, takesBody }) => {
  const { server, runs } = createAttackedServer()
  let entryPoint: EntryPoint
  beforeAll(async () => {
    entryPoint = await open(server, { maxBodyBytes })
  })
  afterAll(() => entryPoint.close())
  const ran = (): number => runs.get('echo') ?? 0
  const attempt = (headers: readonly HeaderLine[] = [], body?: Buffer): Promise<number> =>
    entryPoint.request([['host', `127.0.0.1:${entryPoint.port}`], ...headers], body ? { body } : {})

  test('a valid request is accepted', async () => {
    const before = ran()
    expect(await attempt()).toBe(200)
    expect(ran()).toBe(before + 1)
  })

  test('other methods do nothing', async () => {
    const before = ran()
    const host: HeaderLine = ['host', `127.0.0.1:${entryPoint.port}`]
    for (const method of ['PUT', 'PATCH', 'TRACE', 'PROPFIND'])
      expect([method, await entryPoint.request([host], { method }).catch(() => 400)], method).toEqual([
        method,
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
      ])
    expect(ran()).toBe(before)
  })

  if (takesBody) {
    test.each([
      ...[
        'text/plain',
        'text/plain; charset=utf-8',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ],
      ...['text/json', 'application/jsonp', 'application/json/x', 'application/json; charset=utf-16', '*/*', ''],
    ])('a body of type %j is refused, and nothing runs', async (type) => {
      const before = ran()
      expect(await attempt([['content-type', type]])).toBe(415)
      expect(ran()).toBe(before)
    })

    test('a body without a type is refused, and nothing runs', async () => {
      const before = ran()
      expect(await attempt([['no-content-type', 'x']])).toBe(415)
      expect(ran()).toBe(before)
    })

    test.each(['application/json', 'Application/JSON', 'application/json; charset="utf-8"'])(
      'a body of type %j is served',
      async (type) => {
        expect(await attempt([['content-type', type]])).toBe(200)
      },
    )

    const zeros = Buffer.alloc(1024 * 1024)
    test.each([
      ['gzip', gzipSync(zeros)],
      ['br', brotliCompressSync(zeros)],
      ['gzip, gzip', gzipSync(gzipSync(zeros))],
      ['x-unknown', Buffer.from('{}')],
    ])('a body encoded as %j is refused without being decoded', async (encoding, bytes) => {
      const before = ran()
      expect(await attempt([['content-encoding', encoding]], bytes)).toBe(415)
      expect(ran()).toBe(before)
    })

    test('a body past the limit is refused, and the next is served', async () => {
      const before = ran()
      const large = Buffer.from(JSON.stringify(callOf(1, 'echo', { text: 'x'.repeat(maxBodyBytes) })))
      expect(await attempt([], large)).toBe(413)
      expect(ran()).toBe(before)
      expect(await attempt()).toBe(200)
    })

    test.each([
      ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
      ['not JSON', Buffer.from('{"a":')],
      ['nested too deep', Buffer.from('['.repeat(100) + ']'.repeat(100))],
      ['a name twice', Buffer.from('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}')],
      ['nothing', Buffer.alloc(0)],
    ])('a body that is %s is refused with 400', async (_, bytes) => {
      expect(await attempt([], bytes)).toBe(400)
    })
  }
})

describe.each(httpEntryPoints)('$name behind credentials', ({ open }) => {
  const { server, runs } = createAttackedServer({ use: [authenticate({ verifiers: [verifier], publicMethods: [] })] })
  let entryPoint: EntryPoint
  beforeAll(async () => {
    entryPoint = await open(server, {})
  })
  afterAll(() => entryPoint.close())
  const ran = (): number => runs.get('echo') ?? 0
  const attempt = (authorization: readonly string[], query = ''): Promise<number> =>
    entryPoint.request(
      [
        ['host', `127.0.0.1:${entryPoint.port}`],
        ...authorization.map((value): HeaderLine => ['authorization', value]),
        ['cookie', 'token=good-ann; authorization=Bearer%20good-ann'],
      ],
      { token: 'good-ann', query },
    )

  test('a valid one is accepted', async () => {
    expect(await attempt(['Bearer good-ann'])).toBe(200)
  })

  test.each([
    ['none', []],
    ['an empty one', ['Bearer ']],
    ['a wrong one', ['Bearer bad']],
    ['one that has expired', ['Bearer good-ann-1']],
    ['another scheme', ['Basic Z29vZC1hbm46']],
    ['no scheme', ['good-ann']],
    ['two in one', ['Bearer good-ann, Bearer good-bob']],
  ] as const)('%s is 401 and nothing runs', async (_, authorization) => {
    const before = ran()
    expect(await attempt(authorization)).toBe(401)
    expect(ran()).toBe(before)
  })

  test.each(['?token=good-ann', '?access_token=good-ann', '?authorization=Bearer%20good-ann'])(
    'one in the address (%s) is ignored',
    async (query) => {
      const before = ran()
      expect(await attempt([], query)).toBe(401)
      expect(ran()).toBe(before)
    },
  )
})
