/**
 * The protected resource metadata, which tells OAuth clients where to get a token for this server. It is made once,
 * from configuration. Otherwise a sender of Host or X-Forwarded-* could direct clients, with their codes and tokens, to
 * another server.
 *
 * https://www.rfc-editor.org/rfc/rfc9728
 */

import { isSafeUrl } from './loopback.ts'

export interface ProtectedResourceOptions {
  /** The address of the MCP endpoint as clients reach it. Tokens must name it as their audience. */
  readonly resource: string
  /** Issuers whose tokens this server accepts. */
  readonly authorizationServers: readonly string[]
  /** The scopes that a client should request at first. Tools that need more say so when they are called. */
  readonly scopes?: readonly string[]
  /** The name shown to people on consent pages. */
  readonly name?: string
  readonly documentation?: string
}

export interface ProtectedResource {
  /** The host of the resource, as in the Host header. */
  readonly host: string
  readonly scopes: readonly string[]
  /** The address of the document, for the challenge. */
  readonly metadataUrl: string
  /** Paths of the document on this host: the one for the resource's path, and the root. */
  readonly paths: readonly string[]
  /** The headers of the document. It is public, so pages of every origin may read it. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

const wellKnown = '/.well-known/oauth-protected-resource'

/** Describes where OAuth clients get a token for this server (RFC 9728). */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { resource, authorizationServers, scopes = [], name, documentation } = options
  const { host, origin, pathname } = addressOf('resource', resource)
  if (authorizationServers.length === 0) throw new TypeError('"authorizationServers" is empty: name at least one')
  for (const server of authorizationServers) addressOf('authorizationServers', server)
  const invalid = scopes.find((scope) => !isScope(scope) || scope === 'offline_access')
  if (invalid !== undefined)
    throw new TypeError(
      `"scopes": ${JSON.stringify(invalid)} is not a valid scope here: use printable words, without offline_access`,
    )
  // RFC 9728 §3.1: the slash after the host is removed, any other is part of the path.
  const ownPath = pathname === '/' ? wellKnown : `${wellKnown}${pathname}`
  return {
    host,
    scopes,
    metadataUrl: `${origin}${ownPath}`,
    paths: ownPath === wellKnown ? [wellKnown] : [ownPath, wellKnown],
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

/** Whether the text is a scope (RFC 6749 §3.3). */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

function addressOf(option: string, text: string): InstanceType<typeof URL> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isSafeUrl(text) || url.username || url.password || /[?#]/.test(text))
    throw new TypeError(
      `"${option}": ${text} must be an https address without query and fragment (http on loopback only)`,
    )
  return url
}
