/**
 * What a refusal says in headers: how to get in, and when to come back. Statuses are in `status.ts`.
 *
 * https://www.rfc-editor.org/rfc/rfc6750#section-3 and https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */

import type { RpcError } from '../../core/error.ts'
import type { HttpHeaders } from './message.ts'
import { noHeaders } from './message.ts'
import type { ProtectedResource } from './well-known.ts'
import { isScope } from './well-known.ts'

/** `resource` where tokens come from an authorization server; without it the challenge only says `Bearer`. */
export function challengeHeaders(error: RpcError, resource?: ProtectedResource): HttpHeaders {
  const { reason, data } = error
  if (reason === 'unauthorized') {
    const wanted = scopesOf(data['scopes'])
    const scope = (wanted.length > 0 ? wanted : (resource?.scopes ?? [])).join(' ')
    // RFC 6750: whoever brought no token is told of no error.
    const failed = data['error'] === 'invalid_token' ? 'invalid_token' : ''
    return { 'www-authenticate': bearer({ error: failed, scope, resource_metadata: resource?.metadataUrl ?? '' }) }
  }
  if (reason === 'insufficientScope') {
    const scope = scopesOf(data['scopes']).join(' ')
    const resource_metadata = resource?.metadataUrl ?? ''
    return { 'www-authenticate': bearer({ error: 'insufficient_scope', scope, resource_metadata }) }
  }
  const { retryAfterMs } = data
  if (typeof retryAfterMs !== 'number' || !Number.isFinite(retryAfterMs)) return noHeaders
  // Rounded up: who comes back a moment early is refused again.
  return { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
}

function bearer(parameters: { readonly [name: string]: string }): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  return given.length === 0 ? 'Bearer' : `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`
}

/** Names that could end the quotes, or the header, are left out: definitions are not checked for being headers. */
const scopesOf = (scopes: unknown): readonly string[] =>
  Array.isArray(scopes) ? scopes.filter((scope): scope is string => typeof scope === 'string' && isScope(scope)) : []
