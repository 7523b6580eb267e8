/**
 * OAuth of `sluice/client` against an authorization server on loopback that counts what is asked of it. The flows
 * themselves are in the client leg of the official suite (`npm run conformance -- --client`).
 */

import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, httpTransport } from 'sluice/client'
import { createLoopbackRedirect } from 'sluice/client-node'
import type { ClientOAuthOptions, TextStore } from 'sluice/client-oauth'
import { createOAuth, memoryTokens, sealedTokens } from 'sluice/client-oauth'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'

interface World {
  readonly url: string
  readonly issuer: string
  /** Paths of the authorization server, in the order they were asked. */
  readonly asked: string[]
  /** Access tokens the MCP server takes. */
  readonly valid: Set<string>
  /** Refresh tokens that work, once each. */
  readonly refreshable: Set<string>
  /** What the next challenge says besides. */
  challenge: string
  /** What the metadata names as its issuer. */
  named?: string
  /** Where the metadata says that people sign in. */
  signInPage?: string
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += chunk.toString()
  return text
}

async function createWorld(): Promise<World> {
  let tokens = 0
  const issue = (): object => {
    const [access, refresh] = [`access-${++tokens}`, `refresh-${tokens}`]
    world.valid.add(access)
    world.refreshable.add(refresh)
    return { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 }
  }
  const issuer = await listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
      world.asked.push(pathname)
      const json = (value: object, status = 200): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      }
      if (pathname === '/.well-known/oauth-authorization-server')
        json({
          issuer: world.named ?? issuer,
          authorization_endpoint: world.signInPage ?? `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        })
      else if (pathname === '/register') json({ client_id: 'registered' }, 201)
      else if (pathname === '/authorize') {
        const back = new URL(searchParams.get('redirect_uri') ?? '')
        const answer = { code: 'code', state: searchParams.get('state') ?? '', iss: issuer }
        for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
        response.writeHead(302, { location: back.href }).end()
      } else
        bodyOf(request)
          .then((text) => {
            const form = new URLSearchParams(text)
            world.asked.push(`${form.get('grant_type')} ${form.get('resource')}`)
            const refresh = form.get('refresh_token')
            if (refresh !== null && !world.refreshable.delete(refresh)) json({ error: 'invalid_grant' }, 400)
            else json(issue())
          })
          .catch(() => response.destroy())
    }),
  )
  const server = await listen(
    createServer((request, response) => {
      const metadata = `${server}/.well-known/oauth-protected-resource/mcp`
      if (request.url === '/.well-known/oauth-protected-resource/mcp') {
        const text = JSON.stringify({ resource: `${server}/mcp`, authorization_servers: [issuer] })
        return response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      }
      const token = request.headers.authorization?.replace('Bearer ', '')
      if (token === undefined || !world.valid.has(token)) {
        const challenge = `Bearer resource_metadata="${metadata}"${world.challenge}`
        return response.writeHead(401, { 'www-authenticate': challenge }).end()
      }
      bodyOf(request)
        .then((text) => {
          const { id, method } = JSON.parse(text) as { id: number; method: string }
          const result =
            method === 'server/discover' ? { supportedVersions: ['2026-07-28'], capabilities: {} } : { token }
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
        })
        .catch(() => response.destroy())
      return response
    }),
  )
  const world: World = {
    url: `${server}/mcp`,
    issuer,
    asked: [],
    valid: new Set(),
    refreshable: new Set(),
    challenge: '',
  }
  return world
}

async function authorize(page: string): Promise<string> {
  return (await fetch(page, { redirect: 'manual' })).headers.get('location') ?? ''
}
const signedIn = ({ url }: World, more: Partial<ClientOAuthOptions> = {}): ClientOAuthOptions => ({
  url,
  redirectUrl: 'http://127.0.0.1:1/callback',
  authorize,
  ...more,
})

test('a user signs in once, for exactly this server', async () => {
  const world = await createWorld()
  const client = await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world)) }))
  await client.request('x')
  expect(world.asked).toEqual([
    '/.well-known/oauth-authorization-server',
    '/register',
    '/authorize',
    '/token',
    `authorization_code ${world.url}`,
  ])
})

test('requests that are refused together refresh once', async () => {
  const world = await createWorld()
  const client = await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world)) }))
  world.valid.clear()
  world.asked.length = 0
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => client.request('x')))
  expect(new Set(answers.map(({ token }) => token)).size).toBe(1)
  expect(world.asked.filter((path) => path.startsWith('refresh_token'))).toHaveLength(1)
  expect(world.asked).not.toContain('/authorize')
})

test('a token that is about to end is renewed before it is refused', async () => {
  const world = await createWorld()
  const clock = fakeClock(Date.now())
  const client = await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world, { clock })) }))
  await clock.advance(3_580_000)
  const { token } = await client.request('x')
  expect(token).toBe('access-2')
})

test('a refresh token that was revoked leads to a new sign-in', async () => {
  const world = await createWorld()
  const client = await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world)) }))
  world.valid.clear()
  world.refreshable.clear()
  world.asked.length = 0
  await client.request('x')
  expect(world.asked).toContain('/authorize')
  // Registered once with this authorization server.
  expect(world.asked).not.toContain('/register')
})

test('a token that another process renewed is used', async () => {
  const world = await createWorld()
  const tokens = memoryTokens()
  const open = () => connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world, { tokens })) }))
  const [first, second] = [await open(), await open()]
  world.valid.clear()
  await first.request('x')
  world.asked.length = 0
  await second.request('x')
  expect(world.asked).toEqual([])
})

test('what is stored is sealed, bound to its key, and read back', async () => {
  const world = await createWorld()
  const texts = new Map<string, string>()
  const store: TextStore = {
    get: async (key) => texts.get(key),
    set: async (key, text) => ignore(texts.set(key, text)),
    delete: async (key) => ignore(texts.delete(key)),
  }
  const tokens = sealedTokens(store, 'a secret that is long enough')
  await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world, { tokens })) }))
  const [text = ''] = texts.values()
  expect(text).not.toContain('access-1')
  expect(await tokens.load(world.url)).toMatchObject({ accessToken: 'access-1', issuer: world.issuer })
  texts.set('another user', text)
  expect(await tokens.load('another user')).toBeUndefined()
  expect(await sealedTokens(store, 'another secret that is long').load(world.url)).toBeUndefined()
  // The next run needs no sign-in.
  world.asked.length = 0
  await connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world, { tokens })) }))
  expect(world.asked).toEqual([])
})
const ignore = (_result: unknown): void => {}

test('a sign-in can be begun in one place and finished in another', async () => {
  const world = await createWorld()
  const tokens = memoryTokens()
  const { authorize: _none, ...options } = signedIn(world, { tokens })
  await expect(connect(httpTransport(world.url, { authorization: createOAuth(options) }))).rejects.toMatchObject({
    reason: 'unauthorized',
  })
  const signIn = JSON.parse(JSON.stringify(await createOAuth(options).begin()))
  await createOAuth(options).finish(signIn, await authorize(signIn.url))
  await connect(httpTransport(world.url, { authorization: createOAuth(options) }))
  // The answer to another sign-in is refused.
  const other = await createOAuth(options).begin()
  await expect(createOAuth(options).finish(signIn, await authorize(other.url))).rejects.toMatchObject({
    reason: 'unauthorized',
  })
})

test('a browser on this machine comes back to a page that takes one answer', async () => {
  const world = await createWorld()
  const statuses: number[] = []
  const redirect = await createLoopbackRedirect({
    async show(page) {
      // Another page tries its luck first.
      statuses.push((await fetch(`${redirect.redirectUrl}?code=evil&state=guessed`)).status)
      statuses.push((await fetch(`${new URL(redirect.redirectUrl).origin}//`)).status)
      statuses.push((await fetch(page)).status)
    },
  })
  onTestFinished(() => redirect.close())
  const { redirectUrl, authorize: waits } = redirect
  const oauth = createOAuth({ url: world.url, redirectUrl, authorize: waits })
  await connect(httpTransport(world.url, { authorization: oauth }))
  expect(statuses).toEqual([400, 400, 200])
})

test('metadata of another issuer is refused', async () => {
  const world = await createWorld()
  world.named = 'https://evil.example'
  await expect(
    connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world)) })),
  ).rejects.toMatchObject({ reason: 'unauthorized' })
  expect(world.asked).not.toContain('/token')
})

test.each(['javascript:alert(1)//', 'data:text/html,x', 'file:///etc/passwd', 'http://evil.example/'])(
  'a sign-in page at %s is not opened',
  async (address) => {
    const world = await createWorld()
    world.signInPage = address
    await expect(createOAuth(signedIn(world)).begin()).rejects.toMatchObject({ reason: 'refusedAddress' })
    expect(world.asked).not.toContain('/register')
  },
)

test.each(['http://169.254.169.254/latest', 'http://evil.example/', 'https://10.0.0.1/', 'file:///etc/passwd'])(
  'metadata at %s is not fetched',
  async (address) => {
    const world = await createWorld()
    world.challenge = `, resource_metadata="${address}"`
    await expect(
      connect(httpTransport(world.url, { authorization: createOAuth(signedIn(world)) })),
    ).rejects.toMatchObject({ reason: 'refusedAddress' })
    expect(world.asked).toEqual([])
  },
)

test('a token is not sent without a challenge, nor kept after signing out', async () => {
  const world = await createWorld()
  const oauth = createOAuth(signedIn(world))
  expect(await oauth.token()).toBeUndefined()
  await connect(httpTransport(world.url, { authorization: oauth }))
  expect(await oauth.token()).toBe('Bearer access-1')
  await oauth.signOut()
  expect(await oauth.token()).toBeUndefined()
})
