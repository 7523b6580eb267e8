/**
 * OAuth for clients: signs in where a server asks for it, refreshes tokens one request at a time, and asks for more
 * scopes when a server wants them. The protocol itself is `oauth4webapi`; the rules of MCP are here.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */

import type { AuthorizationServer, TokenEndpointResponse } from 'oauth4webapi'
import * as oauth4webapi from 'oauth4webapi'
import { systemClock } from '../../core/clock.ts'
import { isSafeUrl } from '../../core/loopback.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { ClientError } from '../errors.ts'
import type { Challenge } from '../http/authorization.ts'
import { createHostGuard } from '../http/hosts.ts'
import { fetchSender } from '../http/sender.ts'
import { joinScopes, parseChallenge, scopeFor } from './challenge.ts'
import { type Identity, identify } from './client-identity.ts'
import { type Discovery, discover } from './discover.ts'
import { createOAuthFetch } from './fetch.ts'
import {
  clientCredentialsGrant,
  codeGrant,
  exchangeToken,
  type GrantContext,
  jwtBearerGrant,
  refreshGrant,
  revokeToken,
  type TokenExchange,
} from './grants.ts'
import { memoryTokens, type SavedSignIn } from './tokens.ts'
import type { ClientOAuthOptions, OAuth, SignIn } from './types.ts'

/** Tokens are renewed so long before they end: a request takes time, and clocks differ. */
const marginMs = 30_000

/** Creates the credentials for one server: `httpTransport(url, { authorization: createOAuth({ url, … }) })`. */
export function createOAuth(options: ClientOAuthOptions): OAuth {
  const { url, redirectUrl, clock = systemClock, tokens = memoryTokens(), grant = 'authorization_code' } = options
  const key = options.key ?? url
  const fetch = createOAuthFetch(options.sender ?? fetchSender(), createHostGuard(url, options), clock)
  const identity = {
    client: options.client,
    clientMetadataUrl: options.clientMetadataUrl,
    clientName: options.clientName ?? 'Sluice',
    redirectUrl,
  }
  let saved: SavedSignIn | undefined
  let isLoaded = false
  let renewing: Promise<boolean> | undefined

  async function load(): Promise<SavedSignIn | undefined> {
    if (!isLoaded) saved = await tokens.load(key)
    isLoaded = true
    return saved
  }
  async function keep(next: SavedSignIn | undefined): Promise<void> {
    saved = next
    isLoaded = true
    await tokens.save(key, next)
  }
  /** Another process may have signed in or refreshed meanwhile: its token is tried first. */
  async function isChangedElsewhere(): Promise<boolean> {
    const stored = await tokens.load(key)
    if (stored?.accessToken === undefined || stored.accessToken === saved?.accessToken) return false
    saved = stored
    return true
  }

  async function keepTokens(
    { server }: Pick<Discovery, 'server'>,
    { registration }: Pick<Identity, 'registration'>,
    response: TokenEndpointResponse,
    asked: string | undefined,
  ): Promise<void> {
    const scope = response.scope ?? asked
    const refreshToken = response.refresh_token ?? (saved?.issuer === server.issuer ? saved.refreshToken : undefined)
    const expiresAt = response.expires_in === undefined ? undefined : clock.now() + response.expires_in * 1000
    const { issuer } = server
    await keep(
      omitUndefined({
        issuer,
        accessToken: response.access_token,
        refreshToken,
        expiresAt,
        scope,
        client: registration,
      }),
    )
  }

  const keptClient = (server: AuthorizationServer): SavedSignIn['client'] =>
    saved?.issuer === server.issuer ? saved.client : undefined
  const contextOf = (found: Discovery, known: Identity, scope: string | undefined): GrantContext => ({
    ...{ server: found.server, identity: known, resource: found.resource ?? url, scope, fetch },
  })

  /** Only one process refreshes at a time. The others find its token. */
  function refresh(found: Discovery): Promise<boolean> {
    if (!tokens.exclusive) return refreshOnce(found)
    return tokens.exclusive(key, async () => (await isChangedElsewhere()) || refreshOnce(found))
  }

  async function refreshOnce(found: Discovery): Promise<boolean> {
    const refreshToken = saved?.issuer === found.server.issuer ? saved.refreshToken : undefined
    if (refreshToken === undefined) return false
    const { server } = found
    const scope = saved?.scope
    try {
      const known = await identify(server, identity, keptClient(server), fetch, scope)
      const response = await refreshGrant(contextOf(found, known, scope), refreshToken)
      await keepTokens(found, known, response, scope)
      return true
    } catch (thrown) {
      // A network failure says nothing about the token; a refusal does.
      if (thrown instanceof ClientError) throw thrown
      return isChangedElsewhere()
    }
  }

  /** A refresh token is enough where there is one: revoking it ends its access tokens too (RFC 7009 §2.1). */
  async function revoke(): Promise<void> {
    const ended = await load()
    await keep(undefined)
    const { accessToken, refreshToken, issuer } = ended ?? {}
    const token = refreshToken ?? accessToken
    if (!ended || token === undefined) return
    const { server } = await discover(url, undefined, fetch)
    if (server.issuer !== issuer || server.revocation_endpoint === undefined) return
    const known = await identify(server, identity, ended.client, fetch, ended.scope)
    await revokeToken({ server, identity: known, fetch }, token, refreshToken ? 'refresh_token' : 'access_token')
  }

  /** Without a user: the client's own credentials, or an assertion. */
  async function withoutUser(found: Discovery, scope: string | undefined): Promise<void> {
    const { server } = found
    const known = await identify(server, identity, undefined, fetch, scope)
    const context = contextOf(found, known, scope)
    const exchange = (one: TokenExchange): Promise<string> => exchangeToken(one, fetch)
    const asked = { issuer: server.issuer, resource: context.resource, scope, exchange }
    const response =
      grant === 'jwt_bearer' && options.assertion
        ? await jwtBearerGrant(context, await options.assertion(asked))
        : await clientCredentialsGrant(context)
    await keepTokens(found, known, response, scope)
  }

  async function beginWith(
    found: Discovery,
    metadataUrl: string | undefined,
    scope: string | undefined,
  ): Promise<SignIn> {
    const { server } = found
    if (redirectUrl === undefined) throw new ClientError('unauthorized', 'A sign-in needs "redirectUrl"')
    if (server.authorization_endpoint === undefined || !server.code_challenge_methods_supported?.includes('S256'))
      throw new ClientError('unauthorized', `${server.issuer} does not support PKCE with S256`)
    // A person opens this address, so a hostile server must not make it a script or a file.
    if (!isSafeUrl(server.authorization_endpoint))
      throw new ClientError('refusedAddress', `The sign-in page of ${server.issuer} is not https`)
    const { client, registration } = await identify(server, identity, keptClient(server), fetch, scope)
    const state = oauth4webapi.generateRandomState()
    const verifier = oauth4webapi.generateRandomCodeVerifier()
    const page = new URL(server.authorization_endpoint)
    const parameters: { readonly [name: string]: string } = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUrl,
      state,
      code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: found.resource ?? url,
      ...(scope !== undefined && { scope }),
      // OpenID providers give a refresh token only to users who were asked.
      ...(scope?.split(' ').includes('offline_access') && { prompt: 'consent' }),
    }
    for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value)
    const { issuer } = server
    return omitUndefined({ url: page.href, state, verifier, issuer, metadataUrl, scope, registration })
  }

  async function finishWith(found: Discovery, signIn: SignIn, redirectedTo: string): Promise<void> {
    const { server } = found
    if (server.issuer !== signIn.issuer) throw new ClientError('unauthorized', 'The server trusts another issuer now')
    const known = await identify(server, identity, signIn.registration, fetch, signIn.scope)
    // Checks `state` and, by RFC 9207, that the answer comes from the issuer that was asked.
    const answer = oauth4webapi.validateAuthResponse(server, known.client, new URL(redirectedTo), signIn.state)
    const context = contextOf(found, known, signIn.scope)
    const response = await codeGrant(context, answer, redirectUrl ?? '', signIn.verifier)
    await keepTokens(found, known, response, signIn.scope)
  }

  async function renew({ status, header, attempt }: Challenge): Promise<boolean> {
    const challenge = parseChallenge(header)
    if (status === 403 ? challenge.error !== 'insufficient_scope' || attempt > 1 : attempt > 1) return false
    await load()
    if (await isChangedElsewhere()) return true
    const found = await discover(url, challenge.resourceMetadata, fetch)
    // Tokens and registrations of one authorization server mean nothing to another.
    if (saved && saved.issuer !== found.server.issuer) await keep(undefined)
    if (status === 401 && attempt === 0 && (await refresh(found))) return true
    const isStepUp = status === 403
    const wanted = scopeFor(challenge, found, options.scope, grant)
    const scope = isStepUp ? joinScopes(saved?.scope, wanted) : wanted
    if (grant !== 'authorization_code') await withoutUser(found, scope)
    else {
      if (!options.authorize) return false
      const signIn = await beginWith(found, challenge.resourceMetadata, scope)
      await finishWith(found, signIn, await options.authorize(signIn.url))
    }
    return true
  }

  async function begin(from: Parameters<OAuth['begin']>[0]): Promise<SignIn> {
    const challenge = parseChallenge(from?.header)
    const found = await discover(url, challenge.resourceMetadata, fetch)
    await load()
    const wanted = scopeFor(challenge, found, options.scope, grant)
    const scope = joinScopes(from?.status === 403 ? saved?.scope : undefined, wanted)
    return beginWith(found, challenge.resourceMetadata, scope)
  }

  /** Joins the renewal in flight, or begins one. */
  function renewOnce(work: () => Promise<boolean>): Promise<boolean> {
    renewing ??= explainOAuthError(work()).finally(() => {
      renewing = undefined
    })
    return renewing
  }

  const explainOAuthError = <Value>(work: Promise<Value>): Promise<Value> =>
    work.catch((thrown: unknown) => {
      if (thrown instanceof ClientError) throw thrown
      const why = thrown instanceof Error ? thrown.message : 'unknown'
      throw new ClientError('unauthorized', `The sign-in failed: ${why}`, { mayHaveRun: false, cause: thrown })
    })

  return {
    async token() {
      const { accessToken, expiresAt, refreshToken } = (await load()) ?? {}
      if (accessToken === undefined) return undefined
      if (refreshToken === undefined || expiresAt === undefined || expiresAt - marginMs > clock.now())
        return `Bearer ${accessToken}`
      // A refusal here is not final: the server's answer to the old token decides.
      await renewOnce(() => discover(url, undefined, fetch).then(refresh)).catch(() => false)
      return saved?.accessToken === undefined ? undefined : `Bearer ${saved.accessToken}`
    },
    challenged(challenge) {
      if (saved?.accessToken !== undefined && challenge.refused !== `Bearer ${saved.accessToken}`)
        return Promise.resolve(true)
      return renewOnce(() => renew(challenge))
    },
    begin: (from) => explainOAuthError(begin(from)),
    finish: (signIn, redirectedTo) =>
      explainOAuthError(
        discover(url, signIn.metadataUrl, fetch).then((found) => finishWith(found, signIn, redirectedTo)),
      ),
    signOut: () => keep(undefined),
    revoke: () => explainOAuthError(revoke()),
  }
}
