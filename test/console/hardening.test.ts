/** The console with clients that disconnect early, press every button, or send what no browser would. */

import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createChain } from '../../packages/sluice/src/observe/chain.ts'
import type { BrowserSession, ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, send, signIn, signInAsOwner } from '../kit/servers/console.fixture.ts'

let fixture: ConsoleFixture
let owner: BrowserSession
beforeAll(async () => {
  fixture = await openConsoleFixture()
  owner = await signInAsOwner(fixture)
})
afterAll(() => fixture.close())

/** Sends one request as bytes; resolves with its status, or 0 if the connection was closed without one. */
function raw(head: string, body = ''): Promise<number> {
  const { port, hostname } = new URL(fixture.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(`${head}\r\n\r\n${body}`, 'latin1')))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)))
    socket.on('error', reject)
  })
}
const lines = (target: string, headers: Record<string, string> = {}, method = 'GET'): string =>
  [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries({ host: new URL(fixture.url).host, connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ].join('\r\n')

describe('requests that no browser sends', () => {
  test.each([
    '//',
    '/\\',
    '/\\\\evil.example/',
    'http://[',
    'http://127.0.0.1/api/session',
    '/\u00e9',
    '*',
    '//api/session',
  ])('the target %s is refused with 400', async (target) => {
    expect(await raw(lines(target))).toBe(400)
  })

  test.each(['\u00e9'.repeat(48), '\u00e9'.repeat(24), 'x', ''])(
    'the token %j in x-csrf-token is refused with 403',
    async (token) => {
      const body = JSON.stringify({ tenant: 'acme' })
      const headers = {
        ...{ origin: new URL(fixture.url).origin, cookie: owner.cookie, 'content-type': 'application/json' },
        ...{ 'content-length': String(body.length), 'x-csrf-token': token },
      }
      expect(await raw(lines('/api/audit/verify', headers, 'POST'), body)).toBe(403)
    },
  )

  test('no header and no parameter makes it crash: every answer is a refusal with a reason', async () => {
    const odd = fc.oneof(
      fc.string({ maxLength: 40, unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) }),
      fc.constantFrom('', ' ', '[', '%', '%ff', '\u00e9', '"', ',', ';', '=', '{}', '__proto__', '9'.repeat(400)),
    )
    const names = [
      ...['origin', 'sec-fetch-site', 'authorization', 'cookie', 'x-csrf-token', 'content-type', 'content-encoding'],
      ...['accept-encoding', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'host'],
    ]
    const paths = [
      ...['/', '/api/session', '/api/tickets?after=', '/api/grants?after=', '/api/keys?after=', '/api/audit?tenant='],
      ...['/api/tickets/', '/api/events?live=1&tool=', '/api/audit/export?tenant=', '/hooks/approvals', '/approvals/'],
    ]
    const { port } = new URL(fixture.url)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.constantFrom(...paths),
        odd,
        fc.boolean(),
        async (name, path, value, isPost) => {
          const encoded = path.endsWith('=') || /[a-z]\/$/.test(path) ? path + encodeURIComponent(value) : path
          const cookie = name === 'cookie' ? `__Host-sluice-${port}=${value}` : owner.cookie
          const headers = { cookie, [name]: name === 'cookie' ? cookie : value, 'content-length': '0' }
          const isStream = path.startsWith('/api/events')
          if (isStream) return
          expect(await raw(lines(encoded, headers, isPost ? 'POST' : 'GET'))).not.toBe(500)
          fixture.clock.advance(1)
        },
      ),
      { numRuns: 400 },
    )
  })
})

test('a hundred pages that closed while they signed in take no slot of the event stream', async () => {
  const own = await openConsoleFixture()
  onTestFinished(() => own.close())
  const person = await signInAsOwner(own)
  // The page is closed when its request has arrived and before the session is found.
  let closing = true
  own.serving.server.on('request', (request) => {
    if (closing && request.url?.startsWith('/api/events')) request.socket.destroy()
  })
  for (let page = 0; page < 120; page++) await expect(person.get('api/events')).rejects.toThrow()
  closing = false
  const { port, hostname } = new URL(own.url)
  const first = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET /api/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncookie: ${person.cookie}\r\n\r\n`),
    )
    socket.once('data', (chunk) => {
      resolve(chunk.toString())
      socket.destroy()
    })
    socket.on('error', reject)
  })
  expect(first).toContain('HTTP/1.1 200')
})

describe('a list of tickets', () => {
  test('carries summaries: a page stays small however large the arguments are', async () => {
    const own = await openConsoleFixture({ maxPending: 100 })
    onTestFinished(() => own.close())
    const person = await signInAsOwner(own)
    const agent = await own.createAgentKey()
    for (let n = 0; n < 50; n++) await own.call(agent, 'refund', { order: `${n} ${'x'.repeat(60_000)}` })
    const page = await person.get('api/tickets?status=pending')
    const tickets = page.body['tickets'] as { id: string; excerpt: string }[]
    expect(tickets).toHaveLength(50)
    expect(page.text.length).toBeLessThan(60_000)
    expect(tickets[0]?.excerpt).toMatch(/^Order: 0 x{18} · \{"order":"0 x+…$/)
    const whole = (await person.get(`api/tickets/${tickets[0]?.id}`)).body
    expect(String(whole['arguments']).length).toBeGreaterThan(60_000)
  })
})

describe('the whole audit', () => {
  test('is exported and verified only by operators with the scope audit:export', async () => {
    const { secret } = await fixture.consoleApp.operators.create({
      name: 'viewer',
      scopes: ['approvals:decide', 'keys:manage'],
    })
    const viewer = await signIn(fixture, { key: secret })
    expect(await viewer.get('api/audit/export?tenant=acme')).toMatchObject({
      status: 403,
      body: { reason: 'forbidden' },
    })
    expect((await viewer.post('api/audit/verify', { tenant: 'acme' })).status).toBe(403)
    expect((await viewer.get('api/audit?tenant=acme')).status).toBe(200)
    const may = await fixture.consoleApp.operators.create({
      name: 'auditor',
      scopes: ['audit:export'],
      tenants: ['acme'],
    })
    const auditor = await signIn(fixture, { key: may.secret })
    expect((await auditor.get('api/audit/export?tenant=acme')).status).toBe(200)
    expect((await auditor.post('api/audit/verify', { tenant: 'acme' })).status).toBe(200)
    expect((await auditor.get('api/audit/export?tenant=other')).status).toBe(403)
  })

  test('is read in slices, between which other requests are served, and by at most two readers', async () => {
    const own = await openConsoleFixture()
    onTestFinished(() => own.close())
    const person = await signInAsOwner(own)
    const append = createChain(own.store, 'acme', 'me')
    for (let n = 0; n < 3_000; n++) await append([{ at: n, kind: 'test', text: 'x'.repeat(400) }])
    // Time advances with every reading of the clock, so that a slice is a number of steps, independent of the machine.
    own.clock.tickBy(1)
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    // Both readers wait at their first page, so that the third one always finds two.
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let pages = 0
    const { list } = own.store
    vi.spyOn(own.store, 'list').mockImplementation(async (prefix, page) => {
      if (prefix[1] === 'rows') pages++
      if (pages === 2) begun.resolve()
      if (pages <= 2) await released.promise
      return list(prefix, page)
    })
    const both = [person.get('api/audit/export?tenant=acme'), person.post('api/audit/verify', { tenant: 'acme' })]
    await begun.promise
    const third = await person.post('api/audit/verify', { tenant: 'acme' })
    released.resolve()
    count()
    const [exported, verified] = await Promise.all(both)
    isOver = true
    expect(third).toMatchObject({ status: 503, body: { reason: 'overloaded' } })
    expect(verified?.body).toMatchObject({ intact: true, records: 3_000 })
    expect(exported?.text.trimEnd().split('\n')).toHaveLength(3_000)
    expect(turns).toBeGreaterThan(3_000 / 8)
    expect((await person.post('api/audit/verify', { tenant: 'acme' })).status).toBe(200)
  }, 30_000)
})

test('a client that disconnects while its body is read leaves nothing behind', async () => {
  const { port, hostname } = new URL(fixture.url)
  const head = lines(
    '/api/session',
    { origin: new URL(fixture.url).origin, 'content-type': 'application/json', 'content-length': '100' },
    'POST',
  )
  for (let n = 0; n < 20; n++)
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\n\r\n{"li`, () => socket.destroy()))
      socket.on('close', () => resolve())
      socket.on('error', reject)
    })
  await expect
    .poll(() => new Promise((resolve) => fixture.serving.server.getConnections((_, count) => resolve(count))))
    .toBe(0)
  expect((await send(fixture.url, 'api/session')).status).toBe(401)
})
