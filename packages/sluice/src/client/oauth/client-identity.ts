/**
 * The identity of this client at an authorization server: registered beforehand, named by a metadata document, registered for
 * this issuer earlier, or registered now, in this order.
 */

import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi'
import * as oauth from 'oauth4webapi'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { ClientError } from '../errors.ts'
import type { OAuthFetch } from './fetch.ts'
import { through } from './grants.ts'

/** A private key of WebCrypto, alone or with the id that the authorization server knows it by. */
export type SigningKey = Parameters<typeof oauth.PrivateKeyJwt>[0]

/** A client that the operator registered with the authorization server. */
export interface RegisteredClient {
  readonly id: string
  readonly secret?: string
  /** Signs assertions instead of sending a secret: `private_key_jwt`. With `{ key, kid }` they name the key. */
  readonly privateKey?: SigningKey
  /** How the client authenticates. By default a method that client and authorization server both support. */
  readonly method?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'
  /** The authorization server it is registered with. With it, other issuers never see the credentials. */
  readonly issuer?: string
}

export interface IdentityOptions {
  readonly client?: RegisteredClient | undefined
  /** The https address of this client's metadata document, which then is its id. */
  readonly clientMetadataUrl?: string | undefined
  readonly clientName: string
  readonly redirectUrl: string | undefined
}

export interface Identity {
  readonly client: Client
  readonly auth: ClientAuth
  /** Kept with the tokens, if the client was registered now. */
  readonly registration: Params | undefined
}

/** Returns the identity for one authorization server. `kept` is an earlier registration with the same issuer. */
export async function identify(
  server: AuthorizationServer,
  options: IdentityOptions,
  kept: Params | undefined,
  fetch: OAuthFetch,
  scope: string | undefined,
): Promise<Identity> {
  const { client, clientMetadataUrl } = options
  if (client) return registered(server, client)
  if (clientMetadataUrl !== undefined && server['client_id_metadata_document_supported'] === true)
    return { client: { client_id: clientMetadataUrl }, auth: oauth.None(), registration: undefined }
  const registration = kept ?? (await register(server, options, fetch, scope))
  const known = { ...registration, client_id: String(registration['client_id']) } as Client
  return { client: known, auth: authOf(server, known), registration }
}

function registered(server: AuthorizationServer, client: RegisteredClient): Identity {
  const { id, secret, privateKey, issuer, method } = client
  if (issuer !== undefined && issuer !== server.issuer)
    throw new ClientError(
      'unauthorized',
      `The client is registered with ${issuer}, but the server trusts ${server.issuer}`,
    )
  const known: Client = {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  }
  const auth = privateKey ? oauth.PrivateKeyJwt(privateKey) : authOf(server, known)
  return { client: known, auth, registration: undefined }
}

/** Returns the method the client was registered with, otherwise the first of basic, post and none that the server supports. */
function authOf(
  server: AuthorizationServer,
  { client_secret: secret, token_endpoint_auth_method: method }: Client,
): ClientAuth {
  if (typeof secret !== 'string') return oauth.None()
  const offered = server.token_endpoint_auth_methods_supported
  const usual = ['client_secret_basic', 'client_secret_post'].find((one) => methodsOf(server).includes(one))
  const chosen = typeof method === 'string' && (offered?.includes(method) ?? true) ? method : (usual ?? 'none')
  if (chosen === 'none') return oauth.None()
  return chosen === 'client_secret_post' ? oauth.ClientSecretPost(secret) : secretBasic(secret)
}

/** RFC 8414: basic, if the server names none. */
const methodsOf = (server: AuthorizationServer): readonly string[] =>
  server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']

/** Dynamic registration is the last resort: it leaves an entry with the authorization server for every client. */
async function register(
  server: AuthorizationServer,
  { clientName, redirectUrl }: IdentityOptions,
  fetch: OAuthFetch,
  scope: string | undefined,
): Promise<Params> {
  if (server.registration_endpoint === undefined || redirectUrl === undefined)
    throw new ClientError('unauthorized', `Register a client with ${server.issuer} and name it in "client"`)
  const known = ['none', 'client_secret_basic', 'client_secret_post']
  const preferred = known.find((method) => methodsOf(server).includes(method))
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: preferred ?? 'none',
      application_type: 'native',
      ...(scope !== undefined && { scope }),
    },
    through(fetch),
  )
  // Read without the library's checks: many servers leave out members that RFC 7591 asks for and no client needs.
  const value: unknown = await response.json().catch(() => undefined)
  if (response.status >= 300 || !isObject(value) || typeof value['client_id'] !== 'string')
    throw new ClientError('unauthorized', `${server.issuer} did not register the client (HTTP ${response.status})`)
  return value
}

/** As the library's, but letters that need no escape stay as they are: many servers do not decode them. */
const secretBasic =
  (secret: string): ClientAuth =>
  (_server, { client_id: id }, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`)
  }
