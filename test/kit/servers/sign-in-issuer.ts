/**
 * A real authorization server that people sign in to with a form, and a real resource server that accepts its tokens.
 * RFC 8693 is an extension grant of `oidc-provider`, registered here.
 */

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { JWK } from 'oidc-provider'
import Provider, { errors } from 'oidc-provider'
import type { Verifier } from 'sluice'
import { authenticate, defineServer, memoryStore, tool } from 'sluice'
import { oauth } from 'sluice/jwt'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { z } from 'zod'
import { freePort } from '../processes/programs.ts'

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const silent = { info() {}, warn() {}, error() {} }

export interface SignInIssuer {
  readonly url: string
  /** A client that may exchange tokens, and one that may sign people in. */
  readonly client: { readonly id: string; readonly secret: string }
  /** Paths with their grant, in the order they were requested. */
  readonly requests: string[]
  /** Every access and refresh token that it gave out. */
  readonly tokens: Set<string>
  /** Whether all requests for tokens are refused. */
  endGrants(areRefused: boolean): void
  /** Returns an access token of a person for a resource, as a client of that person would get it. */
  tokenOf(accountId: string, resource: string): Promise<string>
  close(): void
}

/** `lifetime` of access tokens is in seconds. */
export async function startSignInIssuer(redirects: readonly string[], lifetime = 600): Promise<SignInIssuer> {
  const client = { id: 'gateway', secret: `client-secret-${randomUUID()}` }
  const node = createNodeServer()
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  const requests: string[] = []
  const tokens = new Set<string>()
  let areGrantsEnded = false
  const infoOf = (resource: string) => ({
    ...{
      scope: 'notes:read notes:write',
      audience: resource,
      accessTokenFormat: 'jwt' as const,
      accessTokenTTL: lifetime,
    },
    jwt: { sign: { alg: 'ES256' as const } },
  })
  const provider = new Provider(url, {
    clients: [
      {
        ...{ client_id: client.id, client_secret: client.secret, redirect_uris: [...redirects] },
        grant_types: ['authorization_code', 'refresh_token', exchangeGrant],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [makeKey()] },
    cookies: { keys: [randomUUID()] },
    scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    ttl: {
      AccessToken: lifetime,
      AuthorizationCode: 60,
      Grant: 86_400,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
      IdToken: 600,
    },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => infoOf(resource),
      },
    },
  })
  const parameters = ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope']
  provider.registerGrantType(
    exchangeGrant,
    async (ctx) => {
      const { client: known } = ctx.oidc
      const params: { readonly [name: string]: unknown } = ctx.oidc.params ?? {}
      const keys = createRemoteJWKSet(new URL(`${url}/jwks`))
      const { payload } = await jwtVerify(String(params['subject_token']), keys, { issuer: url }).catch(() => {
        throw new errors.InvalidGrant('the subject token is not good')
      })
      if (!known || payload.sub === undefined) throw new errors.InvalidGrant('the subject token has no subject')
      const value = await mint(payload.sub, String(params['resource']), String(params['scope'] ?? ''))
      ctx.body = {
        access_token: value,
        token_type: 'Bearer',
        expires_in: lifetime,
        issued_token_type: params['requested_token_type'],
      }
    },
    parameters,
  )

  async function mint(accountId: string, resource: string, scope: string): Promise<string> {
    const known = await provider.Client.find(client.id)
    if (!known) throw new Error('no client')
    const token = new provider.AccessToken({ accountId, client: known, gty: 'exchange', scope } as never)
    token.resourceServer = new provider.ResourceServer(resource, infoOf(resource))
    const value = await token.save()
    tokens.add(value)
    return value
  }

  const handle = provider.callback()
  node.on('request', (request, response) => {
    const path = new URL(request.url ?? '/', url).pathname
    requests.push(path)
    if (areGrantsEnded && path === '/token') {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
      return
    }
    // Notes the tokens of each answer, so that a test can search for them.
    const end = response.end.bind(response) as (...args: unknown[]) => typeof response
    response.end = ((...args: unknown[]) => {
      if (path === '/token')
        for (const found of String(args[0]).matchAll(/_token":"([^"]+)"/g)) tokens.add(found[1] ?? '')
      return end(...args)
    }) as typeof response.end
    handle(request, response).catch(() => response.destroy())
  })
  return {
    url,
    client,
    requests,
    tokens,
    endGrants(areRefused) {
      areGrantsEnded = areRefused
    },
    tokenOf: (accountId, resource) => mint(accountId, resource, 'notes:read'),
    close() {
      node.close()
      node.closeAllConnections()
    },
  }
}

const makeKey = (): JWK => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'ES256' } as JWK
}

export interface ResourceServer {
  readonly url: string
  /** The tokens that came, each once, in their order. */
  readonly credentials: string[]
  /** Refuses every token that it has accepted so far. */
  refuseTokens(): void
  close(): Promise<void>
}

/** An MCP server that accepts tokens of the issuer for itself only, and tells the caller who they are. */
export async function startResourceServer(issuer: string): Promise<ResourceServer> {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const credentials: string[] = []
  const accepted = new Set<string>()
  const refused = new Set<string>()
  const verifier = oauth({ issuer, resource, scopes: ['notes:read'] })
  const refusing: Verifier = {
    ...verifier,
    verify(token, request) {
      if (!accepted.has(token)) credentials.push(token)
      accepted.add(token)
      return refused.has(token) ? Promise.resolve(undefined) : verifier.verify(token, request)
    },
  }
  const whoami = tool({
    name: 'whoami',
    description: 'Returns the account of the caller.',
    input: z.object({}),
    run: (_, { caller }) => String(caller.claims['sub']),
  })
  const write = tool({
    ...{ name: 'write', description: 'Needs a further scope.', input: z.object({}) },
    ...{ scopes: ['notes:write'], listed: true },
    run: () => 'written',
  })
  const server = createServer(defineServer({ name: 'notes', version: '1.0.0', tools: [whoami, write] }), {
    store: memoryStore(),
    use: [log(silent), authenticate(refusing)],
  })
  const serving = await serveHttp(server, { port })
  return {
    ...{ url: resource, credentials },
    refuseTokens() {
      for (const each of accepted) refused.add(each)
    },
    close: () => serving.close(),
  }
}

/** A person without a browser: fills in the forms of the authorization server, and returns the last page. */
export async function consentByHttp(start: string, account: string): Promise<string> {
  const jar = new Map<string, string>()
  let url = start
  let body: URLSearchParams | undefined
  for (let hops = 0; hops < 20; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      ...{ redirect: 'manual', headers: { cookie } },
      ...(body && { method: 'POST', body }),
    })
    body = undefined
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const text = await response.text()
    const next = response.headers.get('location') ?? /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
    if (next === undefined) return text
    if (!response.headers.has('location')) {
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? ''
      body = new URLSearchParams({ prompt, login: account, password: 'any' })
    }
    url = new URL(next, url).href
  }
  throw new Error('the sign-in does not end')
}
