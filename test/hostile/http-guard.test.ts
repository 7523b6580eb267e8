/**
 * Host and Origin checks on every HTTP entry point. An entry point is a row: the next transport gets the whole matrix
 * by adding one.
 */

import { defineServer } from 'sluice'
import type { HttpServing, ManyServing } from 'sluice/node'
import { createServer, serveHttp, serveMany } from 'sluice/node'
import { health, metrics } from 'sluice/plugins'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryPoint, HeaderLine } from '../kit/clients/http-entry-points.ts'
import { httpEntryPoints } from '../kit/clients/http-entry-points.ts'
import { rawHttp, requestHead } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, initialize } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'

const call = callOf(1, 'echo', { text: 'a' })
const body = JSON.stringify(call)
const basics: readonly HeaderLine[] = [['content-type', 'application/json'], ...Object.entries(headersFor(call))]

const attemptAt = (port: number, path = '/mcp') =>
  async function attempt(headers: readonly HeaderLine[], method = 'POST'): Promise<number> {
    const http = await rawHttp(port)
    const withBody: readonly HeaderLine[] = method === 'POST' ? [['content-length', String(body.length)]] : []
    http.write(requestHead([...headers, ...basics, ...withBody], { method, path }) + (method === 'POST' ? body : ''))
    const { status } = await http.next()
    http.destroy()
    return status
  }

describe.each(httpEntryPoints)('$name', ({ open, seesRawHeaders }) => {
  describe('by default', () => {
    const { server, runs } = createAttackedServer()
    let entryPoint: EntryPoint
    beforeAll(async () => {
      entryPoint = await open(server, {})
    })
    afterAll(() => entryPoint.close())
    /** `PORT` stands for the one it listens on. */
    const filled = (headers: readonly HeaderLine[]): readonly HeaderLine[] =>
      headers.map(([name, value]) => [name, value.replaceAll('PORT', String(entryPoint.port))])
    const ran = (): number => runs.get('echo') ?? 0

    test.each([
      ['localhost', [['Host', 'localhost:PORT']]],
      ['127.0.0.1', [['Host', '127.0.0.1:PORT']]],
      ['127.0.0.2, which is also this machine', [['Host', '127.0.0.2:PORT']]],
      ['[::1]', [['Host', '[::1]:PORT']]],
      ['in capitals', [['HOST', 'LocalHost:PORT']]],
      [
        'with a page of its own',
        [
          ['Host', 'localhost:PORT'],
          ['Origin', 'http://localhost:PORT'],
        ],
      ],
      [
        'with a page of its own in capitals',
        [
          ['Host', 'localhost:PORT'],
          ['Origin', 'HTTP://LOCALHOST:PORT'],
        ],
      ],
      [
        'with a page of its own behind TLS',
        [
          ['Host', '127.0.0.1:PORT'],
          ['Origin', 'https://127.0.0.1:PORT'],
        ],
      ],
    ] as const)('serves its own name: %s', async (_, headers) => {
      const before = ran()
      expect(await entryPoint.request(filled(headers))).toBe(200)
      expect(ran()).toBe(before + 1)
    })

    const evil = [
      ...[
        'evil.example',
        'evil.example:PORT',
        'localhost.evil.example:PORT',
        'localhost.:PORT',
        'localhost.evil:PORT',
        '127.0.0.1.nip.io:PORT',
      ],
      ...['127.0.0.1.:PORT', 'evil-localhost:PORT', 'xlocalhost:PORT', 'localhostx:PORT', '127.1:PORT', '0.0.0.0:PORT'],
      ...[
        '2130706433:PORT',
        '0x7f000001:PORT',
        '0177.0.0.1:PORT',
        '169.254.169.254:PORT',
        '[::ffff:127.0.0.1]:PORT',
        '[::]:PORT',
        '[0:0:0:0:0:0:0:1]:PORT',
      ],
      ...[
        '[::1%25lo]:PORT',
        'localhost:1',
        'localhost:80',
        'localhost',
        '127.0.0.1',
        '[::1]',
        'user@localhost:PORT',
        'localhost:PORT:PORT',
      ],
      ...[
        'localhost:PORT, evil.example',
        'evil.example, localhost:PORT',
        'localhost:PORT/',
        'localhost:PORT#',
        'localhost:PORT@evil.example',
        'null',
        '*',
        '::1',
      ],
      ...['localhost:', 'localhost:x', 'localhost:PORT\tevil', 'undefined', 'ｌocalhost:PORT', 'localhost%00:PORT'],
    ]
    // A URL is normalized before the fetch handler sees it, and then these are other forms of the same name.
    const sameAsUrl =
      /^(?:127\.1|2130706433|0x7f|0177|\[0:0|localhost:PORT[/#]|user@|localhost:PORT@|ｌ|localhost:$|localhost$|127\.0\.0\.1$|127\.0\.0\.1\.:|\[::1\]$|localhost:1$|localhost:80$)/

    test.each(evil.filter((host) => seesRawHeaders || !sameAsUrl.test(host)))('refuses the host %s', async (host) => {
      const before = ran()
      const status = await entryPoint.request(filled([['Host', host]])).catch(() => 403)
      // If a URL is made of it first, it may be invalid.
      expect(status === 403 || (status === 400 && (!seesRawHeaders || /[^\x20-\x7e]/.test(host)))).toBe(true)
      expect(ran()).toBe(before)
    })

    const foreign = [
      ...[
        'http://evil.example',
        'https://evil.example',
        'http://evil.example:PORT',
        'null',
        'undefined',
        'file://',
        'http://localhost.evil.example',
      ],
      ...[
        'http://localhost.:PORT',
        'http://localhost:1',
        'http://localhost',
        'http://127.0.0.1.nip.io:PORT',
        'http://127.0.0.1:PORT',
        'http://[::1]:PORT',
      ],
      ...[
        'http://localhost:PORT.evil.example',
        'http://localhost:PORT@evil.example',
        'http://localhost:PORT/',
        'http://localhost:PORT/path',
        'ws://localhost:PORT',
      ],
      ...[
        'localhost:PORT',
        '//localhost:PORT',
        'chrome-extension://abc',
        'http://localhost:PORT http://evil.example',
        'http://evil.example, http://localhost:PORT',
        '*',
        '',
      ],
    ]

    test.each(foreign)('refuses a page of the origin %j, though the host is right', async (origin) => {
      const before = ran()
      // An earlier accepted request must not help.
      expect(await entryPoint.request(filled([['Host', 'localhost:PORT']]))).toBe(200)
      expect(
        await entryPoint.request(
          filled([
            ['Host', 'localhost:PORT'],
            ['Origin', origin],
          ]),
        ),
      ).toBe(403)
      expect(ran()).toBe(before + 1)
    })

    test('refuses a host and an origin that agree with each other', async () => {
      for (const name of ['evil.example', 'evil.example:PORT', '127.0.0.1.nip.io:PORT'])
        expect(
          await entryPoint.request(
            filled([
              ['Host', name],
              ['Origin', `http://${name}`],
            ]),
          ),
        ).toBe(403)
    })

    test.each(['GET', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'])(
      'refuses foreign hosts before it looks at the method: %s',
      async (method) => {
        expect(await entryPoint.request(filled([['Host', 'evil.example:PORT']]), { method })).toBe(403)
        expect(
          await entryPoint.request(
            filled([
              ['Host', 'localhost:PORT'],
              ['Origin', 'http://evil.example'],
            ]),
            { method },
          ),
        ).toBe(403)
      },
    )

    test('gives no CORS permission to any page', async () => {
      const preflight: readonly HeaderLine[] = [
        ['Host', 'localhost:PORT'],
        ['Origin', 'http://localhost:PORT'],
        ['Access-Control-Request-Method', 'POST'],
      ]
      expect(await entryPoint.request(filled(preflight), { method: 'OPTIONS' })).toBe(405)
    })

    if (seesRawHeaders) {
      test.each([
        [
          'two of them, the good one first',
          [
            ['Host', 'localhost:PORT'],
            ['Host', 'evil.example'],
          ],
        ],
        [
          'two of them, the evil one first',
          [
            ['Host', 'evil.example'],
            ['Host', 'localhost:PORT'],
          ],
        ],
        [
          'two that are equal',
          [
            ['Host', 'localhost:PORT'],
            ['Host', 'localhost:PORT'],
          ],
        ],
        [
          'two in different case',
          [
            ['Host', 'localhost:PORT'],
            ['hOST', 'evil.example'],
          ],
        ],
        ['an empty one', [['Host', '']]],
      ] as const)('refuses %s', async (_, headers) => {
        const before = ran()
        expect([400, 403]).toContain(await entryPoint.request(filled(headers)))
        expect(ran()).toBe(before)
      })

      test('refuses two origins, even if one is allowed', async () => {
        expect(
          await entryPoint.request(
            filled([
              ['Host', 'localhost:PORT'],
              ['Origin', 'http://localhost:PORT'],
              ['Origin', 'http://evil.example'],
            ]),
          ),
        ).toBe(403)
      })

      test('refuses a request without a host, in either version of HTTP', async () => {
        const before = ran()
        expect([400, 403]).toContain(await entryPoint.request([]))
        expect([400, 403]).toContain(await entryPoint.request([], { version: 'HTTP/1.0' }))
        expect(ran()).toBe(before)
      })

      test('trusts no header that a proxy might have set', async () => {
        for (const name of ['X-Forwarded-Host', 'Forwarded', 'X-Host', 'X-Original-Host'])
          expect(
            await entryPoint.request(
              filled([
                ['Host', 'evil.example'],
                [name, name === 'Forwarded' ? 'host=localhost:PORT' : 'localhost:PORT'],
              ]),
            ),
          ).toBe(403)
      })
    }
  })

  describe('with lists', () => {
    const { server, runs } = createAttackedServer()
    let entryPoint: EntryPoint
    beforeAll(async () => {
      entryPoint = await open(server, {
        hosts: ['mcp.example.com', 'MCP.example.com:8443'],
        origins: ['https://app.example.com', 'http://LOCALHOST:5173'],
      })
    })
    afterAll(() => entryPoint.close())

    test.each([
      [[['Host', 'mcp.example.com']]],
      [[['Host', 'MCP.Example.Com']]],
      [[['Host', 'mcp.example.com:8443']]],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'https://app.example.com'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com:8443'],
          ['Origin', 'http://localhost:5173'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'https://mcp.example.com'],
        ],
      ],
    ] as const)('serves %j', async (headers) => {
      expect(await entryPoint.request(headers)).toBe(200)
    })

    test.each([
      [[['Host', 'localhost']]],
      [[['Host', '127.0.0.1']]],
      [[['Host', 'mcp.example.com.']]],
      [[['Host', 'mcp.example.com:8444']]],
      [[['Host', 'evil.example']]],
      [[['Host', 'amcp.example.com']]],
      [[['Host', 'mcp.example.com.evil.example']]],
      [
        [
          ['Host', 'app.example.com'],
          ['Origin', 'https://app.example.com'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'http://app.example.com'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'https://app.example.com:8443'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'https://app.example.com.'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'https://evil.example'],
        ],
      ],
      [
        [
          ['Host', 'mcp.example.com'],
          ['Origin', 'null'],
        ],
      ],
      [
        [
          ['Host', 'evil.example'],
          ['Origin', 'https://app.example.com'],
        ],
      ],
    ] as const)('refuses %j', async (headers) => {
      const before = runs.get('echo') ?? 0
      expect(await entryPoint.request(headers)).toBe(403)
      expect(runs.get('echo') ?? 0).toBe(before)
    })

    test('answers the preflight of an allowed page', async () => {
      const preflight: readonly HeaderLine[] = [
        ['Host', 'mcp.example.com'],
        ['Origin', 'https://app.example.com'],
        ['Access-Control-Request-Method', 'POST'],
      ]
      expect(await entryPoint.request(preflight, { method: 'OPTIONS' })).toBe(204)
    })
  })
})

test('the origin of an allowed page comes back unchanged, and no other', async () => {
  const { server } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0, origins: ['https://app.example.com'] })
  const http = await rawHttp(Number(new URL(serving.url).port))
  const welcome = await http.post(body, { ...headersFor(call), origin: 'https://app.example.com' })
  expect(welcome.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
  expect(welcome.headers.get('vary')).toBe('origin')
  for (const origin of ['https://evil.example', 'null']) {
    const refused = await http.post(body, { ...headersFor(call), origin })
    expect(refused.status).toBe(403)
    expect(refused.headers.has('access-control-allow-origin')).toBe(false)
  }
  const preflight = await rawHttp(Number(new URL(serving.url).port))
  preflight.write(
    requestHead(
      {
        host: `127.0.0.1:${preflight.port}`,
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, mcp-param-region, x-evil, cookie',
      },
      { method: 'OPTIONS' },
    ),
  )
  const granted = await preflight.next()
  expect(granted.headers.get('access-control-allow-headers')).toBe('content-type, mcp-param-region')
  expect(granted.headers.has('access-control-allow-credentials')).toBe(false)
  http.destroy()
  preflight.destroy()
  await serving.close()
})

test('a path that is not the endpoint serves nothing, however it is written', async () => {
  const { server, runs } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0 })
  const port = Number(new URL(serving.url).port)
  for (const path of [
    '/',
    '/mcp/',
    '/mcp/x',
    '/MCP',
    '//mcp',
    '/%6dcp',
    '/./mcp',
    '/x/../mcp',
    '/mcp%3f',
    `http://127.0.0.1:${port}/mcp`,
    'http://evil.example/mcp',
    '*',
  ]) {
    const http = await rawHttp(port)
    http.write(
      requestHead([['host', `127.0.0.1:${port}`], ...basics, ['content-length', String(body.length)]], { path }) + body,
    )
    expect((await http.next()).status, path).toBe(404)
    http.destroy()
  }
  expect(runs.get('echo')).toBeUndefined()
  expect(await attemptAt(port, '/mcp?x=1')([['host', `127.0.0.1:${port}`]])).toBe(200)
  await serving.close()
})

describe.each([[undefined], [['mcp.example.com']]])('the pages for this machine, with the hosts %j', (hosts) => {
  const named = (name: string) =>
    createServer(defineServer({ name, version: '1' }), { use: [metrics(), health({ readers: 'everyone' })] })
  let alone: HttpServing
  let several: ManyServing
  beforeAll(async () => {
    alone = await serveHttp(named('alone'), { port: 0, ...(hosts && { hosts }) })
    several = await serveMany({ '/a': { server: named('a') } }, { port: 0, ...(hosts && { hosts }) })
  })
  afterAll(() => Promise.all([alone.close(), several.close()]))
  const statuses = (headers: readonly HeaderLine[], page: string): Promise<number[]> =>
    Promise.all(
      [
        [alone.url, page],
        [several.urls['/a'], page],
        [several.urls['/a'], `/a${page}`],
      ].map(async ([url = '', path = '']) => {
        const port = new URL(url).port
        const http = await rawHttp(Number(port))
        const filled = headers.map(([name, value]) => [name, value.replaceAll('PORT', port)] as const)
        http.write(requestHead(filled, { method: 'GET', path }))
        const { status } = await http.next()
        http.destroy()
        return status
      }),
    )

  test.each(['localhost:PORT', '127.0.0.1:PORT', '[::1]:PORT', '0.0.0.0:PORT', 'localhost'])(
    'are read at %s',
    async (host) => {
      expect(await statuses([['Host', host]], '/metrics')).toEqual([200, 200, 200])
    },
  )

  test.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example:PORT',
    '127.0.0.1.nip.io:PORT',
    'localhost.',
  ])('are hidden from a page of %s that was rebound to this machine', async (host) => {
    expect(await statuses([['Host', host]], '/metrics')).toEqual([404, 404, 404])
    expect(await statuses([['Host', host]], '/healthz')).toEqual([200, 200, 200])
  })

  test('are read under a name of the server', async () => {
    const status = hosts ? 200 : 404
    expect(await statuses([['Host', 'mcp.example.com:PORT']], '/metrics')).toEqual([status, status, status])
  })
})

test('a session does not bypass the guard', async () => {
  const { server, runs } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0 })
  const port = Number(new URL(serving.url).port)
  const http = await rawHttp(port)
  const opened = await http.post(JSON.stringify(initialize()))
  const session = String(opened.headers.get('mcp-session-id'))
  for (const method of ['POST', 'GET', 'DELETE']) {
    const status = await attemptAt(port)(
      [
        ['host', 'evil.example'],
        ['mcp-session-id', session],
      ],
      method,
    )
    expect(status).toBe(403)
  }
  expect(runs.get('echo')).toBeUndefined()
  expect(
    (await http.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }), { 'mcp-session-id': session })).status,
  ).toBe(200)
  http.destroy()
  await serving.close()
})
