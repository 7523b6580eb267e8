/** Access to the console: links, operator keys and sessions get in; agents, other pages and guesses do not. */

import { routes } from '@sluice/console'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { cookieOf, linkToken, openConsoleFixture, send, signIn, signInAsOwner } from '../kit/servers/console.fixture.ts'

let fixture: ConsoleFixture
beforeAll(async () => {
  fixture = await openConsoleFixture()
})
afterAll(() => fixture.close())
/** Each test signs in anew, more often than the limit allows. */
beforeEach(() => fixture.clock.advance(60_000))

const origin = (): string => new URL(fixture.url).origin
const signInStatus = (body: unknown, headers: Record<string, string> = {}): ReturnType<typeof send> =>
  send(fixture.url, 'api/session', { method: 'POST', headers: { origin: origin(), ...headers }, body })

/** Works on a slow machine: it only has to be faster than the bucket fills. */
async function untilRefused(guess: () => Promise<number>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) if ((await guess()) === 429) return
  expect.fail('It was never slowed down')
}

describe('signing in', () => {
  test('a link signs in once, and sets a cookie that no script and no other site can use', async () => {
    const link = linkToken(await fixture.consoleApp.link())
    const first = await signInStatus({ link })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ operator: { name: 'owner', tenants: [] }, servers: ['shop'] })
    expect(String(first.headers['set-cookie'])).toMatch(
      /^__Host-sluice-\d+=[0-9a-f]{48}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(await signInStatus({ link })).toMatchObject({ status: 401, body: { reason: 'unauthorized' } })
  })

  test('of many concurrent visitors with the same link one gets in', async () => {
    const link = linkToken(await fixture.consoleApp.link())
    const all = await Promise.all(Array.from({ length: 8 }, () => signInStatus({ link })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a link expires after a quarter of an hour', async () => {
    const link = linkToken(await fixture.consoleApp.link())
    fixture.clock.advance(15 * 60_000 + 1)
    expect((await signInStatus({ link })).status).toBe(401)
  })

  test('an operator key signs in as its operator, with its scopes and tenants', async () => {
    const { secret } = await fixture.consoleApp.operators.create({
      name: 'olga',
      scopes: ['approvals:decide'],
      tenants: ['acme'],
    })
    expect((await signInStatus({ key: secret })).body).toMatchObject({
      operator: { name: 'olga', scopes: ['approvals:decide'], tenants: ['acme'] },
    })
  })

  test('a session id planted before signing in is not used', async () => {
    const planted = `${cookieOf(await signInStatus({ link: linkToken(await fixture.consoleApp.link()) })).split('=')[0]}=${'ab'.repeat(24)}`
    const entered = await signInStatus({ link: linkToken(await fixture.consoleApp.link()) }, { cookie: planted })
    expect(cookieOf(entered)).not.toBe(planted)
    expect((await send(fixture.url, 'api/session', { headers: { cookie: planted } })).status).toBe(401)
  })

  test('guessing is slowed down, with a message', async () => {
    const guess = async (): Promise<number> => (await signInStatus({ key: `op_${'0'.repeat(48)}` })).status
    expect(await guess()).toBe(401)
    await untilRefused(guess)
    const last = await signInStatus({ link: '0'.repeat(48) })
    expect(last).toMatchObject({ status: 429, body: { reason: 'rateLimited' } })
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
    // Behind a proxy a stranger has the same address as everyone, and must not lock them out.
    expect((await signInStatus({ link: linkToken(await fixture.consoleApp.link()) })).status).toBe(200)
    fixture.clock.advance(600_000)
  })

  test('guessing operator keys on any route is slowed down too', async () => {
    const guess = { headers: { authorization: 'Bearer op_000000000000000000000000000000000000000000000000' } }
    const tried = async (): Promise<number> => (await send(fixture.url, 'api/tickets', guess)).status
    expect(await tried()).toBe(401)
    await untilRefused(tried)
    fixture.clock.advance(600_000)
  })
})

describe('a session', () => {
  test('gets another id every quarter of an hour; the previous one works for a minute', async () => {
    const visitor = await signInAsOwner(fixture)
    const before = visitor.cookie
    fixture.clock.advance(15 * 60_000)
    expect((await visitor.get('api/session')).status).toBe(200)
    expect(visitor.cookie).not.toBe(before)
    expect((await send(fixture.url, 'api/session', { headers: { cookie: before } })).status).toBe(200)
    fixture.clock.advance(60_001)
    expect((await send(fixture.url, 'api/session', { headers: { cookie: before } })).status).toBe(401)
    expect((await visitor.get('api/session')).status).toBe(200)
  })

  test('ends after an hour without use, and after twelve in any case', async () => {
    const idle = await signInAsOwner(fixture)
    fixture.clock.advance(60 * 60_000 + 1)
    expect((await idle.get('api/session')).status).toBe(401)
    const busy = await signInAsOwner(fixture)
    for (let minutes = 0; minutes < 12 * 60; minutes += 30) {
      fixture.clock.advance(30 * 60_000)
      const { status } = await busy.get('api/session')
      if (minutes < 11 * 60) expect(status).toBe(200)
    }
    expect((await busy.get('api/session')).status).toBe(401)
  })

  test('ends at sign-out, whatever the browser still has', async () => {
    const visitor = await signInAsOwner(fixture)
    const { cookie } = visitor
    const left = await visitor.post('api/session/end')
    expect(String(left.headers['set-cookie'])).toContain('Max-Age=0')
    expect((await send(fixture.url, 'api/tickets', { headers: { cookie } })).status).toBe(401)
  })

  test('loses a right at the next request after it is taken, and everything when its key is revoked', async () => {
    const { secret, key } = await fixture.consoleApp.operators.create({ name: 'olga', scopes: ['keys:manage'] })
    const visitor = await signIn(fixture, { key: secret })
    const revoke = (): ReturnType<typeof visitor.post> => visitor.post('api/keys/0000000000000000/revoke')
    expect((await revoke()).status).toBe(404)
    await fixture.consoleApp.operators.change(key.id, { scopes: [] })
    expect(await revoke()).toMatchObject({ status: 403, body: { reason: 'forbidden' } })
    await fixture.consoleApp.operators.revoke(key.id)
    expect((await visitor.get('api/session')).status).toBe(401)
  })
})

describe('an agent', () => {
  const all = Object.values(routes).map(({ method, path }) => [method, path.replace(/\{\w+\}/g, 'x').slice(1)] as const)

  test.each([
    ...all,
    ['GET', 'api/events'],
    ['GET', 'api/openapi.json'],
    ['GET', 'api/audit/export?tenant=acme'],
  ] as const)('has no access with its key: %s %s', async (method, path) => {
    const secret = await fixture.createAgentKey()
    const body = method === 'POST' ? { key: secret, link: secret } : undefined
    const name = `__Host-sluice-${new URL(fixture.url).port}`
    for (const headers of [{ authorization: `Bearer ${secret}` }, { cookie: `${name}=${secret}` }, {}])
      expect((await send(fixture.url, path, { method, headers: { origin: origin(), ...headers }, body })).status).toBe(
        401,
      )
    fixture.clock.advance(600_000)
  })

  test("an operator's key does not work at the server either", async () => {
    const { secret } = await fixture.consoleApp.operators.create({ name: 'olga', scopes: ['approvals:decide'] })
    expect(await fixture.call(secret, 'price', { article: 'x' })).toMatchObject({
      error: { data: { reason: 'unauthorized' } },
    })
  })
})

describe('another page', () => {
  test.each([
    ['without the token of the session', {}, 403],
    ['with the token of another session', { 'x-csrf-token': 'ab'.repeat(24) }, 403],
    ['from another origin', { origin: 'https://evil.example' }, 403],
    ['from another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ['from a page without an origin', { origin: 'null' }, 403],
    ['as a request the browser calls same-site', { 'sec-fetch-site': 'same-site' }, 403],
    ['as a request the browser calls cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['as plain text', { 'content-type': 'text/plain' }, 415],
    ['compressed', { 'content-encoding': 'gzip' }, 415],
  ])('changes nothing with the cookie %s', async (_, headers, status) => {
    const visitor = await signInAsOwner(fixture)
    const own: Record<string, string> = { ...visitor.headers }
    if (Object.keys(headers).length === 0) delete own['x-csrf-token']
    const reply = await send(fixture.url, 'api/audit/verify', {
      method: 'POST',
      headers: { ...own, ...headers },
      body: { tenant: 'acme' },
    })
    expect(reply.status).toBe(status)
  })

  test('cannot sign in', async () => {
    const link = linkToken(await fixture.consoleApp.link())
    expect((await signInStatus({ link }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await signInStatus({ link }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send(fixture.url, 'api/session', { method: 'POST', body: { link } })).status).toBe(403)
    expect((await signInStatus({ link })).status).toBe(200)
  })

  test.each(['evil.example', '127.0.0.1.nip.io', 'localhost.', '127.0.0.1:1'])(
    'cannot be reached under the name %s',
    async (host) => {
      const { cookie } = await signInAsOwner(fixture)
      for (const path of ['', 'api/session'])
        expect((await send(fixture.url, path, { headers: { cookie, host } })).status).toBe(403)
    },
  )

  test('a cookie that is sent twice is ignored', async () => {
    const { cookie } = await signInAsOwner(fixture)
    const planted = `${cookie.split('=')[0]}=${'ab'.repeat(24)}`
    expect((await send(fixture.url, 'api/session', { headers: { cookie: `${planted}; ${cookie}` } })).status).toBe(401)
  })
})

describe('the page', () => {
  test('may run its own scripts, and may not be framed or cached', async () => {
    const page = await send(fixture.url, '')
    expect(page.status).toBe(200)
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|data:|\*/)
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(page.text).not.toMatch(/<script(?![^>]+src=)|<style|\son\w+=|https?:\/\//)
  })

  test('every answer of the API has the same headers, refusals too', async () => {
    const visitor = await signInAsOwner(fixture)
    for (const reply of [await visitor.get('api/tickets'), await send(fixture.url, 'api/tickets')])
      expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
  })

  test('redirects from the address in an approval to its ticket', async () => {
    const reply = await send(fixture.url, 'approvals/abc-123')
    expect(reply).toMatchObject({ status: 303, headers: { location: '/#/approvals/abc-123' } })
  })

  test.each(['..%2f..%2fpackage.json', 'assets/../index.html', 'assets/', 'nothing', '%00'])(
    'serves nothing else: %s',
    async (path) => {
      expect([404, 400]).toContain((await send(fixture.url, path)).status)
    },
  )
})

describe('where it listens', () => {
  test('beyond this machine it requires TLS in front', async () => {
    await expect(fixture.consoleApp.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow('origin')
    await expect(fixture.consoleApp.listen({ port: 0, origin: 'http://console.example.com' })).rejects.toThrow('https')
    await expect(
      fixture.consoleApp.listen({ port: 0, origin: 'https://console.example.com', cookie: 'plain' }),
    ).rejects.toThrow('cookie')
  })

  test('behind a proxy it answers only to the name of its origin and below its path', async () => {
    const behind = await openConsoleFixture({ origin: 'https://ops.example.com/console' })
    const { port } = behind.serving.server.address() as { port: number }
    const at = (path: string, headers: Record<string, string> = {}): ReturnType<typeof send> =>
      send(`http://127.0.0.1:${port}/`, path, { headers: { host: 'ops.example.com', ...headers } })
    expect(await behind.consoleApp.link()).toMatch(/^https:\/\/ops\.example\.com\/console\/#\/sign-in\/[0-9a-f]{48}$/)
    expect((await at('console/')).status).toBe(200)
    expect((await at('console/api/session')).status).toBe(401)
    expect((await at('api/session')).status).toBe(404)
    expect((await at('console/', { host: '127.0.0.1' })).status).toBe(403)
    await behind.close()
  })

  test('for Safari on this machine the cookie has no prefix', async () => {
    const plain = await openConsoleFixture({ cookie: 'plain' })
    const reply = await send(plain.url, 'api/session', {
      method: 'POST',
      headers: { origin: new URL(plain.url).origin },
      body: { link: linkToken(await plain.consoleApp.link()) },
    })
    expect(String(reply.headers['set-cookie'])).toMatch(/^sluice-\d+=[0-9a-f]+; Path=\/; HttpOnly; SameSite=Strict$/)
    await plain.close()
  })
})
