/** The public types of a sign-in: its options, its state, and the credentials it leads to. */

import type { Clock } from '../../core/clock.ts'
import type { Authorization, Challenge } from '../http/authorization.ts'
import type { HostPolicy } from '../http/hosts.ts'
import type { HttpSender } from '../http/sender.ts'
import type { OAuthGrant } from './challenge.ts'
import type { RegisteredClient } from './client-identity.ts'
import type { TokenExchange } from './grants.ts'
import type { TokenStore } from './tokens.ts'

/** Options of a sign-in. */
export interface ClientOAuthOptions extends HostPolicy {
  /** The address of the MCP server. */
  readonly url: string
  /** The address to which the authorization server sends the user back. */
  readonly redirectUrl?: string
  /** Shows the sign-in page to the user and resolves with the address the browser was sent back to. */
  authorize?(url: string): Promise<string>
  /** A client that was registered beforehand. Without a user (`grant: 'client_credentials'`) it is needed. */
  readonly client?: RegisteredClient
  /** The https address of this client's metadata document, for authorization servers that read such documents. */
  readonly clientMetadataUrl?: string
  /** The name in dynamic registrations. */
  readonly clientName?: string
  /**
   * `client_credentials`: the client signs in as itself, without a user. `jwt_bearer`: an assertion stands for the user
   * or the workload (workload identity, enterprise-managed authorization).
   */
  readonly grant?: OAuthGrant
  /** Returns the assertion for `jwt_bearer`. `exchange` gets one for a token of another party (RFC 8693). */
  assertion?(request: AssertionRequest): Promise<string>
  /** Asked for if the challenge names no scopes. By default the scopes in the server's metadata. */
  readonly scope?: string
  /** Keeps the tokens. In memory by default. */
  readonly tokens?: TokenStore
  /** The key in `tokens`. By default the server's address; a gateway adds the user. */
  readonly key?: string
  /** Sends the requests of the sign-in. */
  readonly sender?: HttpSender
  readonly clock?: Clock
}

/** The issuer and the resource that an assertion is for. */
export interface AssertionRequest {
  readonly issuer: string
  readonly resource: string
  readonly scope: string | undefined
  /** Exchanges a token with the checks that apply to all requests of a sign-in. */
  exchange(exchange: TokenExchange): Promise<string>
}

/** A sign-in that waits for the user. Plain data: a gateway can seal it and finish it in another process. */
export interface SignIn {
  /** The page to show. */
  readonly url: string
  readonly state: string
  readonly verifier: string
  readonly issuer: string
  readonly metadataUrl?: string
  readonly scope?: string
  readonly registration?: { readonly [member: string]: unknown }
}

/** The credentials of one user for one server. */
export interface OAuth extends Authorization {
  /** Begins a sign-in, for programs that cannot wait for the user where the challenge came. */
  begin(challenge?: Pick<Challenge, 'status' | 'header'>): Promise<SignIn>
  /** Finishes it with the address the browser was sent back to. */
  finish(signIn: SignIn, redirectedTo: string): Promise<void>
  /** Forgets the tokens. */
  signOut(): Promise<void>
  /**
   * Forgets the tokens, then revokes them at the authorization server if it offers that (RFC 7009). Rejects if only the
   * second step failed.
   */
  revoke(): Promise<void>
}
