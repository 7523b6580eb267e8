/**
 * What an OAuth client must know to get a token for this server: who issues them, and for which resource. Made once,
 * from configuration: an address taken from Host or X-Forwarded-* would let whoever sends those send clients, and their
 * codes and tokens, to a server of their own.
 *
 * https://www.rfc-editor.org/rfc/rfc9728
 */

import { isSafeUrl } from '../../core/loopback.ts'
import type { HttpHeaders } from './message.ts'

export interface ProtectedResourceOptions {
  /** The address clients reach the MCP endpoint by, and what tokens must name as their audience. */
  readonly resource: string
  /** Issuers whose tokens are taken here. */
  readonly authorizationServers: readonly string[]
  /** What a client should ask for at first; tools that need more say so when they are called. */
  readonly scopes?: readonly string[]
  /** For people, on consent pages. */
  readonly name?: string
  readonly documentation?: string
}

export interface ProtectedResource {
  readonly scopes: readonly string[]
  /** Where the document is, for the challenge. */
  readonly metadataUrl: string
  /** Paths on this host to answer with it: the one that belongs to the resource's path, and the root. */
  readonly paths: readonly string[]
  /** The document, ready to send to GET. Public by nature, so pages of every origin may read it. */
  readonly headers: HttpHeaders
  readonly body: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

/** What OAuth clients must know to get a token for this server (RFC 9728), and where they find it. */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { resource, authorizationServers, scopes = [], name, documentation } = options
  const { origin, pathname } = addressOf('resource', resource)
  if (authorizationServers.length === 0) throw new TypeError('authorizationServers: name at least one')
  for (const server of authorizationServers) addressOf('authorizationServers', server)
  const odd = scopes.find((scope) => !isScope(scope) || scope === 'offline_access')
  if (odd !== undefined)
    throw new TypeError(`scopes: ${JSON.stringify(odd)} is none a resource asks for; one printable word each`)
  // RFC 9728 §3.1: the slash after the host goes, any other is part of the path.
  const own = pathname === '/' ? wellKnown : `${wellKnown}${pathname}`
  return {
    scopes,
    metadataUrl: `${origin}${own}`,
    paths: own === wellKnown ? [wellKnown] : [own, wellKnown],
    headers: {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
    },
    body: JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      bearer_methods_supported: ['header'],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      ...(name !== undefined && { resource_name: name }),
      ...(documentation !== undefined && { resource_documentation: documentation }),
    }),
  }
}

/** RFC 6749 §3.3. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

function addressOf(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isSafeUrl(text) || url.username || url.password || /[?#]/.test(text))
    throw new TypeError(
      `${option}: ${text} must be an https address without query and fragment (http on loopback only)`,
    )
  return url
}
