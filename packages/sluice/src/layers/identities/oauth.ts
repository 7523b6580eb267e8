/**
 * An OAuth resource server from two addresses: the issuer of its tokens and its own. Keys, audience, metadata and accepted
 * hosts follow from them, so that they cannot contradict each other.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */

import { isSafeUrl } from '../../core/loopback.ts'
import type { ProtectedResourceOptions } from '../../core/protected-resource.ts'
import type { Verifier } from './authenticate-credential.ts'
import type { JwtDeps, TokenRules } from './token-verifier.ts'
import { createTokenVerifier } from './token-verifier.ts'

/** The issuer, the public address of this server, and what clients may read about it. */
export interface OAuthOptions
  extends Omit<TokenRules, 'audience'>,
    Pick<ProtectedResourceOptions, 'resource' | 'scopes' | 'name' | 'documentation'> {
  /** The audience of the tokens, if the issuer does not use the address of the resource. By default `resource`. */
  readonly audience?: TokenRules['audience']
}

/**
 * Creates a verifier for `authenticate`. It finds the issuer's keys in its metadata when the first token arrives. HTTP
 * transports accept the host of `resource`, serve its metadata and name it in challenges.
 */
export function oauth(options: OAuthOptions, deps: JwtDeps = {}): Verifier {
  const { issuer, resource, scopes, name, documentation, audience = resource, ...rules } = options
  if (!isSafeUrl(issuer))
    throw new TypeError(`"issuer": ${issuer} must be an https address; plain http is for loopback addresses only`)
  return {
    ...createTokenVerifier({ ...rules, issuer, audience }, { discover: issuer }, deps),
    expose: {
      resource,
      authorizationServers: [issuer],
      ...(scopes && { scopes }),
      ...(name !== undefined && { name }),
      ...(documentation !== undefined && { documentation }),
    },
  }
}
