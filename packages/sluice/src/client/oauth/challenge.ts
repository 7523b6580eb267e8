/** The `WWW-Authenticate` header of a refusal: where the metadata is, and which scopes to ask for. */

import { omitUndefined } from '../../core/omit-undefined.ts'
import type { Discovery } from './discover.ts'

export interface BearerChallenge {
  readonly resourceMetadata?: string
  readonly scope?: string
  readonly error?: string
}

const maxLength = 8192

/** Reads the Bearer challenge of a header that may hold several. Returns `{}` if there is none. */
export function parseChallenge(header: string | undefined): BearerChallenge {
  if (header === undefined || header.length > maxLength) return {}
  const start = /(?:^|,)\s*bearer(?:\s+|$)/i.exec(header)
  if (!start) return {}
  const found = new Map<string, string>()
  const pair = /\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))\s*(?:,|$)/iy
  pair.lastIndex = start.index + start[0].length
  for (let match = pair.exec(header); match; match = pair.exec(header)) {
    const [, name = '', quoted, plain = ''] = match
    found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain)
  }
  return omitUndefined({
    resourceMetadata: found.get('resource_metadata'),
    scope: found.get('scope'),
    error: found.get('error'),
  })
}

/** How a token is asked for. */
export type OAuthGrant = 'authorization_code' | 'client_credentials' | 'jwt_bearer'

/** Returns the scopes in the challenge, otherwise the configured ones, otherwise those the server publishes. */
export function scopeFor(
  challenge: BearerChallenge,
  found: Discovery,
  configured: string | undefined,
  grant: OAuthGrant,
): string | undefined {
  const named =
    challenge.scope ?? configured ?? (found.scopes && found.scopes.length > 0 ? found.scopes.join(' ') : undefined)
  // A refresh token spares the user further sign-ins, where the authorization server has a scope for it.
  const offersOffline = grant === 'authorization_code' && found.server.scopes_supported?.includes('offline_access')
  return offersOffline ? joinScopes(named, 'offline_access') : named
}

export function joinScopes(first: string | undefined, second: string | undefined): string | undefined {
  const all = new Set([first, second].flatMap((scope) => scope?.split(' ') ?? []).filter((scope) => scope !== ''))
  return all.size === 0 ? undefined : [...all].join(' ')
}
