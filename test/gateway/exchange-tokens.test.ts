/** Token exchange (RFC 8693) for callers of the gateway, and the hosts that requests of OAuth may reach. */

import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Verifier } from 'sluice'
import { authenticate, memoryStore } from 'sluice'
import { exchangeTokens, signIn } from 'sluice/gateway-auth'
import type { Gateway } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { oauth } from 'sluice/jwt'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../kit/processes/programs.ts'
import type { ResourceServer, SignInIssuer } from '../kit/servers/sign-in-issuer.ts'
import { startResourceServer, startSignInIssuer } from '../kit/servers/sign-in-issuer.ts'
import { clientOf, namesOf, token } from './kit.ts'

const silent = { info() {}, warn() {}, error() {} }
let issuer: SignInIssuer
let notes: ResourceServer
beforeAll(async () => {
  issuer = await startSignInIssuer(['http://127.0.0.1:1/sign-in/callback'])
  notes = await startResourceServer(issuer.url)
})
afterAll(async () => {
  await notes?.close()
  issuer?.close()
})

/** Accepts `key-…`, as an API key would be. */
const byKey: Verifier = {
  verify: (text) =>
    Promise.resolve(
      text.startsWith('key-')
        ? {
            ...{ subject: text, credential: 'key', scopes: new Set<string>() },
            claims: {},
            expires: Number.POSITIVE_INFINITY,
          }
        : undefined,
    ),
}

async function open(): Promise<{ readonly team: Gateway; readonly url: string; readonly resource: string }> {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const auth = exchangeTokens({ issuer: issuer.url, client: issuer.client, scope: 'notes:read' })
  const team = gateway({
    ...{ name: 'team', version: '1.0.0', startMs: 60_000 },
    upstreams: [upstream({ name: 'notes', url: notes.url, auth })],
  })
  const server = createServer(team.endpoints['notes'] ?? team, {
    ...{ store: memoryStore(), secret: 'a secret of this test' },
    use: [log(silent), authenticate({ verifiers: [oauth({ issuer: issuer.url, resource }), byKey] })],
  })
  const serving = await serveHttp(server, { port })
  onTestFinished(() => serving.close())
  return { team, url: serving.url, resource }
}

const textOf = (result: { readonly [member: string]: unknown }): unknown =>
  (result['content'] as readonly { text?: string }[] | undefined)?.[0]?.text

test('the token of a caller is exchanged, once, and never reaches the upstream', async () => {
  const { url, resource } = await open()
  notes.credentials.length = 0
  const own = { alice: await issuer.tokenOf('alice', resource), bob: await issuer.tokenOf('bob', resource) }
  const alice = await clientOf(url, { revision: '2026-07-28' }, token(own.alice))
  const bob = await clientOf(url, { revision: '2026-07-28' }, token(own.bob))
  // Nothing is stored yet, so the first list is refused; the exchanged token of its caller lists.
  await expect(namesOf(alice.tools())).rejects.toThrow('not reached yet')
  expect(await namesOf(bob.tools())).toEqual(['whoami', 'write'])
  issuer.requests.length = 0
  const both = await Promise.all([alice, bob, alice, bob].map((client) => client.callTool('whoami', {})))
  expect(both.map(textOf)).toEqual(['alice', 'bob', 'alice', 'bob'])
  // Alice's was exchanged for the list, and Bob's by his first call.
  expect(issuer.requests.filter((path) => path === '/token')).toHaveLength(1)
  expect(notes.credentials).toHaveLength(2)
  expect(notes.credentials).not.toContain(own.alice)
  expect(notes.credentials).not.toContain(own.bob)
})

test('another token of the same caller is exchanged by itself', async () => {
  const { url, resource } = await open()
  const [one, two] = [await issuer.tokenOf('alice', resource), await issuer.tokenOf('alice', resource)]
  const first = await clientOf(url, { revision: '2026-07-28' }, token(one))
  await namesOf(first.tools()).catch(() => {})
  expect(textOf(await first.callTool('whoami', {}))).toBe('alice')
  issuer.requests.length = 0
  const second = await clientOf(url, { revision: '2026-07-28' }, token(two))
  expect(textOf(await second.callTool('whoami', {}))).toBe('alice')
  expect(issuer.requests).toContain('/token')
})

test('an API key is not sent to the authorization server', async () => {
  const { url, resource } = await open()
  const alice = await clientOf(url, { revision: '2026-07-28' }, token(await issuer.tokenOf('alice', resource)))
  await namesOf(alice.tools()).catch(() => {})
  issuer.requests.length = 0
  const keyed = await clientOf(url, { revision: '2026-07-28' }, token('key-1'))
  const refused = await keyed.callTool('whoami', {}).catch((thrown: Error) => ({ content: [{ text: thrown.message }] }))
  expect(textOf(refused)).toContain(`takes callers with a token of ${issuer.url}`)
  expect(issuer.requests).toEqual([])
})

/** An upstream and an authorization server whose metadata a test writes. */
async function metadataServer(metadataOf: (path: string, origin: string) => object | undefined): Promise<string> {
  const server = createNodeServer((request, response) => {
    const found = metadataOf(request.url ?? '', origin)
    if (!found) return response.writeHead(401).end()
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return origin
}
const resourceAt = '/.well-known/oauth-protected-resource/mcp'
const issuerAt = '/.well-known/oauth-authorization-server'

const rows: readonly {
  readonly what: string
  readonly allowHosts?: readonly string[]
  readonly metadata: (path: string, origin: string) => object | undefined
  readonly refusal: string
}[] = [
  {
    what: 'an authorization server at a private address',
    metadata: (path, origin) =>
      path === resourceAt ? { resource: `${origin}/mcp`, authorization_servers: ['https://10.0.0.1'] } : undefined,
    refusal: 'its address is private',
  },
  {
    what: 'an authorization server that is not in allowHosts',
    allowHosts: ['id.example.com'],
    metadata: (path, origin) =>
      path === resourceAt
        ? { resource: `${origin}/mcp`, authorization_servers: ['https://id.example.org'] }
        : undefined,
    refusal: 'its host is not in "allowHosts"',
  },
  {
    what: 'a registration endpoint at a private address',
    metadata(path, origin) {
      if (path === resourceAt) return { resource: `${origin}/mcp`, authorization_servers: [origin] }
      if (path !== issuerAt) return undefined
      return {
        ...{ issuer: origin, authorization_endpoint: `${origin}/a`, token_endpoint: 'https://169.254.169.254/t' },
        registration_endpoint: 'https://169.254.169.254/r',
        code_challenge_methods_supported: ['S256'],
      }
    },
    refusal: 'its address is private',
  },
]

test.each(rows)('a sign-in does not reach $what', async ({ metadata, allowHosts, refusal }) => {
  const origin = await metadataServer(metadata)
  const auth = signIn({ redirectUrl: 'http://127.0.0.1:1/sign-in/callback' })
  const team = gateway({
    ...{ name: 'team', version: '1.0.0' },
    upstreams: [upstream({ name: 'notes', url: `${origin}/mcp`, auth, ...(allowHosts && { allowHosts }) })],
  })
  const server = createServer(team, { store: memoryStore(), secret: 'a secret of this test', use: [log(silent)] })
  onTestFinished(() => server.close())
  await server.ready()
  await expect(team.signIns.start({ tenant: 'acme', subject: 'ann' }, 'notes')).rejects.toThrow(refusal)
})
