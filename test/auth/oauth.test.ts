/** A protected server from two addresses, with a real authorization server. Module: `layers/identities/oauth.ts`. */

import { once } from 'node:events'
import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { LogLine } from 'sluice'
import { authenticate, createServer, defineServer, tool } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { jwt, oauth } from 'sluice/jwt'
import { serveHttp } from 'sluice/node'
import { aCall, fakeClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { rawHttp, requestHead } from '../kit/clients/raw-http.client.ts'
import { freePort } from '../kit/processes/programs.ts'
import type { Issuer } from '../kit/servers/issuer.fixture.ts'
import { startIssuer } from '../kit/servers/issuer.fixture.ts'

const whoami = tool({ name: 'whoami', description: 'Names the caller', run: (_, { caller }) => caller.subject })
const definition = defineServer({ name: 'protected', version: '1', tools: [whoami] })
const publicUrl = 'https://mcp.example/mcp'
const metadataPath = '/.well-known/oauth-protected-resource/mcp'
const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } }

let issuer: Issuer
let local: string
let port: number
beforeAll(async () => {
  port = await freePort()
  local = `http://127.0.0.1:${port}/mcp`
  issuer = await startIssuer([publicUrl, local, 'api://notes', 'https://other.example/mcp'], 'notes:read')
})
afterAll(() => issuer.close())

const serverFor = (resource: string) =>
  createServer(definition, { use: [authenticate(oauth({ issuer: issuer.url, resource, scopes: ['notes:read'] }))] })

function edge(options: Parameters<typeof toFetch>[1] = {}) {
  const serve = toFetch(serverFor(publicUrl), options)
  const post = (url = publicUrl, token?: string): Promise<Response> =>
    serve(
      new Request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(message),
      }),
    )
  return { serve, post }
}

test('the fetch adapter serves the metadata, names it in the challenge and takes a token for the resource', async () => {
  const { serve, post } = edge()
  const refused = await post()
  expect(refused.status).toBe(401)
  const metadataUrl = `https://mcp.example${metadataPath}`
  expect(refused.headers.get('www-authenticate')).toBe(`Bearer scope="notes:read", resource_metadata="${metadataUrl}"`)
  expect(await (await serve(new Request(metadataUrl))).json()).toEqual({
    resource: publicUrl,
    authorization_servers: [issuer.url],
    bearer_methods_supported: ['header'],
    scopes_supported: ['notes:read'],
  })
  const answered = await post(publicUrl, await issuer.token(publicUrl, 'notes:read'))
  expect(await answered.json()).toMatchObject({ result: { content: [{ text: 'robot' }] } })
  expect((await post(publicUrl, await issuer.token('https://other.example/mcp'))).status).toBe(401)
})

test('on the edge the host of the resource and loopback are accepted, and no other', async () => {
  const { post } = edge()
  expect((await post('https://mcp.example/mcp')).status).toBe(401)
  expect((await post('http://localhost:8787/mcp')).status).toBe(401)
  expect((await post('https://evil.example/mcp')).status).toBe(403)
  const { post: postTo } = edge({ hosts: ['internal.example'] })
  expect((await postTo('https://internal.example/mcp')).status).toBe(401)
  expect((await postTo('https://mcp.example/mcp')).status).toBe(401)
  expect((await postTo('http://localhost:8787/mcp')).status).toBe(403)
})

test('on Node the host of the resource is accepted beside loopback, and no other', async () => {
  const serving = await serveHttp(serverFor(publicUrl), { port: 0, sessions: false })
  onTestFinished(() => serving.close())
  const bound = Number(new URL(serving.url).port)
  const statusFor = async (host: string): Promise<number> => {
    const http = await rawHttp(bound)
    const body = JSON.stringify(message)
    const length = String(Buffer.byteLength(body))
    http.write(requestHead({ host, 'content-type': 'application/json', 'content-length': length }) + body)
    const { status } = await http.next()
    http.destroy()
    return status
  }
  expect(await statusFor('mcp.example')).toBe(401)
  expect(await statusFor(`127.0.0.1:${bound}`)).toBe(401)
  expect(await statusFor('evil.example')).toBe(403)
})

test('the official client finds its way from the challenge to a token', async () => {
  const serving = await serveHttp(serverFor(local), { port })
  onTestFinished(() => serving.close())
  const { id: clientId, secret: clientSecret } = issuer.client
  const authProvider = new ClientCredentialsProvider({ clientId, clientSecret })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(local), { authProvider }))
  expect(await client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({ content: [{ text: 'robot' }] })
  await client.close()
})

test('the issuer is asked when the first token arrives, and its keys are cached', async () => {
  const before = issuer.keyFetches
  const verifier = oauth({ issuer: issuer.url, resource: publicUrl })
  expect(issuer.keyFetches).toBe(before)
  expect(await verifier.verify(await issuer.token(publicUrl), aCall())).toMatchObject({ subject: 'robot' })
  expect(await verifier.verify(await issuer.token(publicUrl), aCall())).toMatchObject({ subject: 'robot' })
  expect(issuer.keyFetches).toBe(before + 1)
})

test('"audience" replaces the resource where the issuer has another name for it', async () => {
  const verifier = oauth({ issuer: issuer.url, resource: publicUrl, audience: 'api://notes' })
  expect(await verifier.verify(await issuer.token('api://notes'), aCall())).toMatchObject({ subject: 'robot' })
  expect(await verifier.verify(await issuer.token(publicUrl), aCall())).toBeUndefined()
})

/** An issuer whose documents a test writes. `paths` are the documents that were asked for. */
async function writtenIssuer(documents: (url: string) => { readonly [path: string]: unknown }, path = '') {
  const paths: string[] = []
  const node = createNodeServer((request, response) => {
    paths.push(request.url ?? '')
    const found = documents(url)[request.url ?? '']
    response.statusCode = found === undefined ? 404 : 200
    response.end(JSON.stringify(found))
  })
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  onTestFinished(() => {
    node.close()
    node.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}${path}`
  const lines: LogLine[] = []
  const warn = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: warn, warn, error: warn }
  const verifier = oauth({ issuer: url, resource: publicUrl }, { clock: fakeClock(Date.now()), logger })
  const verify = async (): Promise<unknown> =>
    verifier.verify(await issuer.token(publicUrl), aCall()).catch((thrown: unknown) => thrown)
  return { paths, lines, verify }
}

test('an issuer with a path is asked in the order of the specification', async () => {
  const { paths, verify } = await writtenIssuer(() => ({}), '/acme')
  expect(await verify()).toMatchObject({ reason: 'storeUnavailable' })
  expect(paths).toEqual([
    '/.well-known/oauth-authorization-server/acme',
    '/.well-known/openid-configuration/acme',
    '/acme/.well-known/openid-configuration',
  ])
})

const metadata = '/.well-known/oauth-authorization-server'
test.each([
  ['metadata for another issuer', () => ({ issuer: 'https://evil.example', jwks_uri: 'https://evil.example/jwks' })],
  ['an issuer with one slash more', (url: string) => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` })],
  ['keys over plain http', (url: string) => ({ issuer: url, jwks_uri: 'http://evil.example/jwks' })],
  ['keys in a file', (url: string) => ({ issuer: url, jwks_uri: 'file:///etc/passwd' })],
  ['no keys', (url: string) => ({ issuer: url })],
  ['a list', () => []],
])('%s: no key is fetched, no token is accepted, and the log says why', async (_, document) => {
  const { paths, lines, verify } = await writtenIssuer((url) => ({ [metadata]: document(url) }))
  expect(await verify()).toMatchObject({ reason: 'storeUnavailable' })
  expect(paths).not.toContain('/jwks')
  expect(lines).toMatchObject([{ event: 'jwks', outcome: 'failed', message: expect.stringContaining(metadata) }])
})

test('two issuers of one address are named together, and two addresses are refused', async () => {
  const second = 'https://second.example'
  const verifiers = [
    oauth({ issuer: issuer.url, resource: publicUrl, scopes: ['a'] }),
    oauth({ issuer: second, resource: publicUrl, scopes: ['a', 'b'] }),
    jwt({ issuer: 'https://third.example', audience: publicUrl, secret: 'a secret of thirty-two characters' }),
  ]
  const serve = toFetch(createServer(definition, { use: [authenticate({ verifiers })] }))
  expect(await (await serve(new Request(`https://mcp.example${metadataPath}`))).json()).toMatchObject({
    authorization_servers: [issuer.url, second],
    scopes_supported: ['a', 'b'],
  })
  const [first] = verifiers
  const other = oauth({ issuer: second, resource: 'https://other.example/mcp' })
  const both = { verifiers: first ? [first, other] : [] }
  expect(() => createServer(definition, { use: [authenticate(both)] })).toThrow('A server has one address')
})

test.each([
  [{ issuer: 'http://id.example', resource: publicUrl }, '"issuer"'],
  [{ issuer: 'not an address', resource: publicUrl }, '"issuer"'],
  [{ issuer: 'https://id.example', resource: 'http://mcp.example/mcp' }, '"resource"'],
])('%o is refused at the start', (options, text) => {
  expect(() => createServer(definition, { use: [authenticate(oauth(options))] })).toThrow(text)
})
