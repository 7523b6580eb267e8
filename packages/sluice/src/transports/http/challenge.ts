/**
 * The headers of a refusal: how to authenticate, and when to retry. Statuses are in `status.ts`.
 *
 * https://www.rfc-editor.org/rfc/rfc6750#section-3 and
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */

import type { RpcError } from '../../core/error.ts'
import type { ProtectedResource } from '../../core/protected-resource.ts'
import { isScope } from '../../core/protected-resource.ts'
import type { HttpHeaders } from './message.ts'
import { noHeaders } from './message.ts'

/**
 * Returns the headers of a refusal. `resource` names the authorization server; without it the challenge is only
 * `Bearer`.
 */
export function challengeHeaders(error: RpcError, resource?: ProtectedResource): HttpHeaders {
  const { reason, data } = error
  const isUnauthorized = reason === 'unauthorized'
  if (isUnauthorized || reason === 'insufficientScope') {
    const required = scopesOf(data['scopes'])
    const scopes = required.length > 0 || !isUnauthorized ? required : resource?.scopes
    const parameters = {
      // RFC 6750: a request without a token gets no error code.
      error: isUnauthorized ? data['error'] === 'invalid_token' && 'invalid_token' : 'insufficient_scope',
      scope: scopes?.join(' '),
      resource_metadata: resource?.metadataUrl,
    }
    const present = Object.entries(parameters).flatMap(([name, value]) => (value ? `${name}="${value}"` : []))
    return { 'www-authenticate': `Bearer ${present.join(', ')}`.trimEnd() }
  }
  const { retryAfterMs } = data
  if (typeof retryAfterMs !== 'number' || !Number.isFinite(retryAfterMs)) return noHeaders
  // Rounded up, because a client that retries a moment early is refused again.
  return { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
}

/** Leaves out scopes that could end the quotes or the header, because definitions are not checked for that. */
const scopesOf = (scopes: unknown): readonly string[] =>
  Array.isArray(scopes) ? scopes.filter((scope): scope is string => typeof scope === 'string' && isScope(scope)) : []
