/**
 * The whole flow: the official client finds the authorization server by our challenge, gets a token and is accepted.
 */

import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { apiKeys, authenticate, defineServer, tool } from 'sluice'
import { jwt } from 'sluice/jwt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import type { AuthenticatedServer } from '../kit/servers/authenticated.fixture.ts'
import { serveAuthenticated } from '../kit/servers/authenticated.fixture.ts'
import type { Issuer } from '../kit/servers/issuer.fixture.ts'
import { startIssuer } from '../kit/servers/issuer.fixture.ts'

const echo = tool({
  name: 'echo',
  description: 'Says it back',
  input: z.object({ text: z.string() }),
  scopes: ['routes:read'],
  run: ({ text }) => text,
})
const deploy = tool({
  name: 'deploy',
  description: 'Needs more',
  scopes: ['routes:read', 'routes:write'],
  listed: true,
  run: () => 'deployed',
})
const definition = defineServer({ name: 'auth', version: '1', tools: [echo, deploy] })
const keys = apiKeys(memoryStore())

let issuer: Issuer
let serving: AuthenticatedServer
const resources: string[] = []
beforeAll(async () => {
  issuer = await startIssuer(resources, 'routes:read routes:write')
  serving = await serveAuthenticated({
    definition,
    authorizationServers: [issuer.url],
    scopes: ['routes:read'],
    authenticate: (url) =>
      authenticate({ verifiers: [keys, jwt({ jwks: `${issuer.url}/jwks`, issuer: issuer.url, audience: url })] }),
  })
  resources.push(serving.url, 'https://other.example')
})
afterAll(async () => {
  await serving.close()
  issuer.close()
})

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}
async function post(name: string, headers: { [name: string]: string } = {}, query = '', more = {}) {
  const response = await fetch(`${serving.url}${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { text: 'hi' }, _meta: envelope, ...more },
    }),
  })
  return { status: response.status, challenge: response.headers.get('www-authenticate'), text: await response.text() }
}
const bearer = (token: string): { [name: string]: string } => ({ authorization: `Bearer ${token}` })
const metadataOf = (url: string): string => url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp')

test.each(['legacy', { pin: '2026-07-28' }] as const)(
  'the official client (%j) starts with only the address and its own credentials',
  async (mode) => {
    const authProvider = new ClientCredentialsProvider({
      clientId: issuer.client.id,
      clientSecret: issuer.client.secret,
      expectedIssuer: issuer.url,
    })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { authProvider }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'deploy'])
    expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({
      content: [{ type: 'text', text: 'hi' }],
    })
    await client.close()
    const call = serving.calls.at(-1)
    expect(call).toMatchObject({ method: 'tools/call', caller: { subject: `${issuer.url} robot` } })
    expect([call?.via.header('authorization'), call?.via.header('user-agent')]).toEqual([undefined, expect.any(String)])
    expect(call?.facts).toMatchObject({ caller: `${issuer.url} robot`, tokenFrom: 'header' })
  },
)

test('no token, or an invalid one: 401 with where to get one', async () => {
  const token = await issuer.token(serving.url, 'routes:read')
  const plain = `Bearer scope="routes:read", resource_metadata="${metadataOf(serving.url)}"`
  const failed = `Bearer error="invalid_token", scope="routes:read", resource_metadata="${metadataOf(serving.url)}"`
  expect(await post('echo')).toMatchObject({ status: 401, challenge: plain })
  expect(await post('echo', {}, `?access_token=${token}`)).toMatchObject({ status: 401, challenge: plain })
  expect(await post('echo', {}, '', { token })).toMatchObject({ status: 401, challenge: plain })
  for (const authorization of ['Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer ${token}x`, 'Bearer a b'])
    expect(await post('echo', { authorization })).toMatchObject({ status: 401, challenge: failed })
  expect(JSON.stringify(serving.lines)).not.toContain(token.slice(-20))
})

test('every refused token gets exactly the same answer', async () => {
  const tokens = [
    await issuer.token('https://other.example'),
    `sk_${'0'.repeat(48)}`,
    'nonsense',
    `${(await issuer.token(serving.url)).slice(0, -8)}AAAAAAAA`,
  ]
  const answers = await Promise.all(tokens.map((token) => post('echo', bearer(token))))
  const plain = answers.map((answer) => ({ ...answer, text: answer.text.replace(/"reference":"[^"]+"/, '') }))
  expect(new Set(plain.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 401, text: expect.stringContaining('Authentication required') })
})

test('too few scopes: 403 with all scopes of this call, and nothing more', async () => {
  const token = await issuer.token(serving.url, 'routes:read')
  expect(await post('deploy', bearer(token))).toMatchObject({
    status: 403,
    challenge: `Bearer error="insufficient_scope", scope="routes:read routes:write", resource_metadata="${metadataOf(serving.url)}"`,
  })
  const enough = await issuer.token(serving.url, 'routes:read routes:write')
  expect(await post('deploy', bearer(enough))).toMatchObject({ status: 200, challenge: null })
})

test('an API key is accepted too', async () => {
  const { secret } = await keys.create({ subject: 'ann', scopes: ['routes:read'] })
  expect(await post('echo', bearer(secret))).toMatchObject({ status: 200 })
  expect(JSON.stringify(serving.lines)).not.toContain(secret.slice(11))
})

test('the metadata comes from configuration, whatever Host and X-Forwarded-* say', async () => {
  const { origin } = new URL(serving.url)
  const spoofed = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' }
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const response = await fetch(`${origin}${path}`, { headers: spoofed })
    expect(await response.json()).toEqual({
      resource: serving.url,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      scopes_supported: ['routes:read'],
    })
  }
  const { challenge } = await post('echo', spoofed)
  expect(challenge).toContain(metadataOf(serving.url))
  expect(challenge).not.toContain('evil')
})

const legacy = (message: object | undefined, headers: { [name: string]: string } = {}, method = 'POST') =>
  fetch(serving.url, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    ...(message && { body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
  })
const initialize = { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } }

test('a session id alone is not enough for its stream, its end, a notification or a response', async () => {
  const { secret } = await keys.create({ subject: 'ann', scopes: ['routes:read'] })
  const mine = { authorization: `Bearer ${secret}` }
  const started = await legacy(initialize, mine)
  const session = { 'mcp-session-id': String(started.headers.get('mcp-session-id')) }
  const stolen = [
    legacy(undefined, session, 'GET'),
    legacy(undefined, session, 'DELETE'),
    legacy({ method: 'notifications/cancelled', params: { requestId: 1 } }, session),
    legacy({ id: 'sluice-1', result: {} }, session),
    legacy({ method: 'notifications/initialized' }, session),
  ]
  expect((await Promise.all(stolen)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect((await legacy({ method: 'notifications/initialized' }, { ...session, ...mine })).status).toBe(202)
  expect((await legacy(undefined, { ...session, ...mine }, 'DELETE')).status).toBe(204)
})

test('an anonymous session may finish the handshake, and nothing more', async () => {
  const started = await legacy(initialize)
  const session = { 'mcp-session-id': String(started.headers.get('mcp-session-id')) }
  expect((await legacy({ method: 'notifications/initialized' }, session)).status).toBe(202)
  const more = [
    legacy({ method: 'notifications/cancelled', params: { requestId: 1 } }, session),
    legacy({ id: 'sluice-1', result: {} }, session),
    legacy(undefined, session, 'GET'),
    legacy(undefined, session, 'DELETE'),
    legacy({ id: 2, method: 'tools/list' }, session),
  ]
  expect((await Promise.all(more)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
})
