/** A real authorization server, in process and on loopback, whose keys a test can rotate. */

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AdapterFactory, JWK } from 'oidc-provider'
import Provider, { errors } from 'oidc-provider'

export interface Issuer {
  readonly url: string
  /** The first client; all others have the same secret. */
  readonly client: { readonly id: string; readonly secret: string }
  /** The number of requests for the key set. */
  readonly keyFetches: number
  /** Returns an access token by client credentials for this resource; by default for `robot`. */
  token(resource: string, scope?: string, clientId?: string): Promise<string>
  /** Signs with a new key from now on; by default the old one stays published. */
  rotate(options?: { readonly forgetOld?: boolean }): void
  /** While it is down, every connection is closed. */
  down: boolean
  close(): void
}

/** The claims that an issuer adds to a client's tokens, such as its tenants. */
export interface Claims {
  readonly [client: string]: { readonly [claim: string]: unknown }
}

/** `resources` are those it issues tokens for; any other is refused. `claims` adds further clients. */
export async function startIssuer(resources: readonly string[], scopes: string, claims: Claims = {}): Promise<Issuer> {
  const client = { id: 'robot', secret: randomUUID() }
  const node = createServer()
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  let keys: JWK[] = [makeKey()]
  let handler = provide()
  let keyFetches = 0
  node.on('request', (request, response) => {
    if (request.url === '/jwks') keyFetches++
    if (issuer.down) request.socket.destroy()
    else handler(request, response).catch(() => response.destroy())
  })

  function provide(): ReturnType<Provider['callback']> {
    const provider = new Provider(url, {
      clients: [client.id, ...Object.keys(claims)].map((id) => ({
        client_id: id,
        client_secret: client.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
      })),
      extraTokenClaims: (_, { clientId = '' }) => claims[clientId] ?? {},
      jwks: { keys },
      adapter: statelessAdapter,
      cookies: { keys: [randomUUID()] },
      scopes: scopes.split(' '),
      ttl: { ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo(_, resource) {
            if (!resources.includes(resource)) throw new errors.InvalidTarget()
            return { scope: scopes, audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
          },
        },
      },
    })
    return provider.callback()
  }

  const issuer: Issuer = {
    url,
    client,
    down: false,
    get keyFetches() {
      return keyFetches
    },
    async token(resource, scope, clientId = client.id) {
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource, ...(scope && { scope }) })
      const authorization = `Basic ${btoa(`${clientId}:${client.secret}`)}`
      const response = await fetch(`${url}/token`, { method: 'POST', body, headers: { authorization } })
      const answer = (await response.json()) as { access_token?: string }
      if (!answer.access_token) throw new Error(`No token: ${JSON.stringify(answer)}`)
      return answer.access_token
    },
    rotate({ forgetOld = false } = {}) {
      keys = forgetOld ? [makeKey()] : [makeKey(), ...keys]
      handler = provide()
    },
    close() {
      node.close()
      node.closeAllConnections()
    },
  }
  return issuer
}

/** Its tokens are self-contained, so nothing needs to be stored. */
const statelessAdapter: AdapterFactory = () => ({
  upsert: async () => {},
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
})

const makeKey = (): JWK => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'ES256' } as JWK
}
