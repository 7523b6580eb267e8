/** The requests for tokens, one function per grant. Each names the resource, so that the token is good for one server. */

import type { AuthorizationServer, TokenEndpointResponse } from 'oauth4webapi'
import * as oauth from 'oauth4webapi'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { ClientError } from '../errors.ts'
import type { Identity } from './client-identity.ts'
import type { OAuthFetch } from './fetch.ts'

/** The common part of all requests for a token. */
export interface GrantContext {
  readonly server: AuthorizationServer
  readonly identity: Identity
  readonly resource: string
  readonly scope: string | undefined
  readonly fetch: OAuthFetch
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** Lets the library use our `fetch`, which refuses plain http itself, except on this machine. */
export const through = (
  fetch: OAuthFetch,
): { readonly [oauth.customFetch]: never; readonly [oauth.allowInsecureRequests]: true } => ({
  [oauth.customFetch]: fetch as never,
  [oauth.allowInsecureRequests]: true,
})

const scoped = ({ resource, scope }: GrantContext): Record<string, string> => ({
  resource,
  ...(scope !== undefined && { scope }),
})

export async function refreshGrant(context: GrantContext, refreshToken: string): Promise<TokenEndpointResponse> {
  const { server, identity, resource, fetch } = context
  const { client, auth } = identity
  const options = { ...through(fetch), additionalParameters: { resource } }
  const answer = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, options)
  return oauth.processRefreshTokenResponse(server, client, answer)
}

/** `answer` was checked against the `state` and the issuer. */
export async function codeGrant(
  context: GrantContext,
  answer: URLSearchParams,
  redirectUrl: string,
  verifier: string,
): Promise<TokenEndpointResponse> {
  const { server, identity, resource, fetch } = context
  const { client, auth } = identity
  const options = { ...through(fetch), additionalParameters: { resource } }
  const grant = [server, client, auth, answer, redirectUrl, verifier, options] as const
  const response = await oauth.authorizationCodeGrantRequest(...grant)
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

export async function clientCredentialsGrant(context: GrantContext): Promise<TokenEndpointResponse> {
  const { server, identity, fetch } = context
  const { client, auth } = identity
  const answer = await oauth.clientCredentialsGrantRequest(server, client, auth, scoped(context), through(fetch))
  return oauth.processClientCredentialsResponse(server, client, answer)
}

/** A grant that the library has no function for. */
async function otherGrant(
  context: GrantContext,
  type: string,
  more: { readonly [parameter: string]: string },
): Promise<TokenEndpointResponse> {
  const { server, identity, fetch } = context
  const { client, auth } = identity
  const parameters = { ...scoped(context), ...more }
  const answer = await oauth.genericTokenEndpointRequest(server, client, auth, type, parameters, through(fetch))
  return oauth.processGenericTokenEndpointResponse(server, client, answer)
}

/** RFC 7523: an assertion that another party signed stands for the user or the workload. */
export const jwtBearerGrant = (context: GrantContext, assertion: string): Promise<TokenEndpointResponse> =>
  otherGrant(context, jwtBearer, { assertion })

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** RFC 8693: exchanges the access token of a caller for one that is good for the resource, for the same user. */
export const tokenExchangeGrant = (
  context: GrantContext,
  subjectToken: string,
  audience: string | undefined,
): Promise<TokenEndpointResponse> =>
  otherGrant(context, tokenExchange, {
    subject_token: subjectToken,
    subject_token_type: accessTokenType,
    requested_token_type: accessTokenType,
    ...(audience !== undefined && { audience }),
  })

/** RFC 7009: tells the authorization server to forget a token. With a refresh token its access tokens end too. */
export async function revokeToken(
  { server, identity, fetch }: Pick<GrantContext, 'server' | 'identity' | 'fetch'>,
  token: string,
  kind: 'access_token' | 'refresh_token',
): Promise<void> {
  const { client, auth } = identity
  const options = { ...through(fetch), additionalParameters: { token_type_hint: kind } }
  const answer = await oauth.revocationRequest(server, client, auth, token, options)
  await oauth.processRevocationResponse(answer)
}

/** A token, and the token it is exchanged for. */
export interface TokenExchange {
  /** The token endpoint of the party that issued the subject token. */
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly subjectToken: string
  readonly subjectTokenType: string
  readonly requestedTokenType: string
  readonly audience: string
  readonly resource: string
  readonly scope?: string
}

/** RFC 8693: exchanges a token for another, such as an ID token for an assertion that `jwt_bearer` takes. */
export async function exchangeToken(exchange: TokenExchange, fetch: OAuthFetch): Promise<string> {
  const body = new URLSearchParams({
    grant_type: tokenExchange,
    client_id: exchange.clientId,
    subject_token: exchange.subjectToken,
    subject_token_type: exchange.subjectTokenType,
    requested_token_type: exchange.requestedTokenType,
    audience: exchange.audience,
    resource: exchange.resource,
    ...(exchange.scope !== undefined && { scope: exchange.scope }),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await fetch(exchange.tokenEndpoint, { method: 'POST', headers, body })
  const answer: unknown = await response.json().catch(() => undefined)
  const { access_token: token, error }: Params = isObject(answer) ? answer : {}
  if (response.status !== 200 || typeof token !== 'string')
    throw new ClientError(
      'unauthorized',
      `The token was not exchanged (${String(error ?? response.status).slice(0, 64)})`,
    )
  return token
}
