/** The scopes to ask for: those in the challenge, otherwise the configured ones, otherwise those the server publishes. */

import type { BearerChallenge } from './challenge.ts'
import type { Discovery } from './discover.ts'

/** How a token is asked for. */
export type OAuthGrant = 'authorization_code' | 'client_credentials' | 'jwt_bearer'

/** Returns the scopes to ask for; `undefined` to ask for none by name. */
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
