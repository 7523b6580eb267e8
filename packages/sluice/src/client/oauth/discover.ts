/**
 * From a protected server to the authorization server that it trusts: protected-resource metadata (RFC 9728), then
 * authorization-server metadata (RFC 8414 or OpenID Connect), each checked against where it came from.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */

import type { AuthorizationServer } from 'oauth4webapi'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { ClientError } from '../errors.ts'
import type { OAuthFetch } from './fetch.ts'

/** The authorization server of an MCP server, and the resource and scopes to ask for. */
export interface Discovery {
  readonly server: AuthorizationServer
  /** The resource indicator (RFC 8707); `undefined` if the server publishes no metadata about itself. */
  readonly resource: string | undefined
  /** The scopes the server names for itself. */
  readonly scopes: readonly string[] | undefined
}

/** Finds the authorization server of an MCP server. `metadataUrl` comes from a challenge. */
export async function discover(url: string, metadataUrl: string | undefined, fetch: OAuthFetch): Promise<Discovery> {
  const metadata = await findResource(url, metadataUrl, fetch)
  if (!metadata)
    return { server: await findServer(new URL(url).origin, fetch, true), resource: undefined, scopes: undefined }
  const { resource, authorization_servers: servers, scopes_supported: scopes } = metadata
  if (typeof resource !== 'string' || !isResourceOf(resource, url))
    throw new ClientError('unauthorized', `The metadata is for another server: ${String(resource).slice(0, 200)}`)
  const issuer = Array.isArray(servers) ? servers.find((each) => typeof each === 'string') : undefined
  if (typeof issuer !== 'string') throw new ClientError('unauthorized', 'The server names no authorization server')
  return { server: await findServer(issuer, fetch, false), resource, scopes: stringsOf(scopes) }
}

const stringsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined

/** The resource must be the server itself or a path above it: a token for another origin must not be asked for. */
function isResourceOf(resource: string, url: string): boolean {
  if (!URL.canParse(resource)) return false
  const [named, asked] = [new URL(resource), new URL(url)]
  const path = named.pathname.endsWith('/') ? named.pathname : `${named.pathname}/`
  return named.origin === asked.origin && `${asked.pathname}/`.startsWith(path)
}

async function findResource(url: string, named: string | undefined, fetch: OAuthFetch): Promise<Params | undefined> {
  if (named !== undefined) {
    const metadata = await readJson(named, fetch)
    if (!metadata) throw new ClientError('unauthorized', 'The metadata that the server names cannot be read')
    return metadata
  }
  const { origin, pathname, search } = new URL(url)
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const places = pathname === '/' ? [wellKnown] : [`${wellKnown}${pathname}${search}`, wellKnown]
  for (const place of places) {
    const metadata = await readJson(place, fetch)
    if (metadata) return metadata
  }
  return undefined
}

/** Returns the addresses of an issuer's metadata, in the order of the specification. */
function placesOf(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const root = `${origin}/.well-known`
  if (path === '') return [`${root}/oauth-authorization-server`, `${root}/openid-configuration`]
  return [
    `${root}/oauth-authorization-server${path}`,
    `${root}/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

/**
 * Reads the metadata of an issuer. `isGuessed`: servers of 2025-03-26 are their own authorization server, with endpoints
 * at fixed paths.
 */
export async function findServer(issuer: string, fetch: OAuthFetch, isGuessed: boolean): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer)) throw new ClientError('unauthorized', 'The authorization server is not a valid URL')
  for (const place of placesOf(issuer)) {
    const metadata = await readJson(place, fetch)
    if (!metadata) continue
    // RFC 8414 §3.3: exactly the issuer that was asked for, otherwise it speaks for another one.
    if (metadata['issuer'] !== issuer && !(isGuessed && metadata['issuer'] === `${issuer}/`))
      throw new ClientError('unauthorized', `The metadata at ${place} is of another issuer`)
    return metadata as unknown as AuthorizationServer
  }
  if (!isGuessed) throw new ClientError('unauthorized', `The authorization server ${issuer} publishes no metadata`)
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ['S256'],
  }
}

/** Returns the JSON object at an address; `undefined` if there is none. */
async function readJson(url: string, fetch: OAuthFetch): Promise<Params | undefined> {
  const response = await fetch(url, {})
  if (response.status >= 500) throw new ClientError('unreachable', `${url} failed (HTTP ${response.status})`)
  if (response.status !== 200) return undefined
  const value: unknown = await response.json().catch(() => undefined)
  return isObject(value) ? value : undefined
}
