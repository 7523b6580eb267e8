/**
 * The seam between the gateway and the credentials that each caller has at an upstream. A sign-in or a token exchange
 * brings its own code (`sluice/gateway-auth`), so that a gateway without them is no larger.
 */

import type { Authorization } from '../../client/http/authorization.ts'
import type { HttpSender } from '../../client/http/sender.ts'
import type { Answer } from '../../core/answer.ts'
import type { Call, Handler } from '../../core/call.ts'
import type { Page, Services } from '../../core/plugin.ts'
import type { Store } from '../../core/store.ts'
import type { Tool } from '../../protocol/tools.ts'

/** A caller of one tenant. Tokens are kept for exactly this pair. */
export interface Person {
  readonly tenant: string
  readonly subject: string
}

/** A person, and the credential that one token of theirs was exchanged from. */
export interface CredentialHolder extends Person {
  readonly credential?: string
}

/** The sign-in of one person at one upstream. */
export interface UpstreamSignIn {
  readonly upstream: string
  /** `waiting`: the person consented, and the code on the page is missing. */
  readonly state: 'signed out' | 'waiting' | 'signed in'
  /** The authorization server that gave the tokens. */
  readonly issuer?: string
  readonly scope?: string
  /** When the access token ends, in milliseconds since the epoch. It is refreshed before. */
  readonly expiresAt?: number
  /** The upstream refused a call for want of scopes. The next sign-in asks for them. */
  readonly wantsMore?: true
}

/** Where a person acts, if not by a call. The audit records it. */
export interface SignInOrigin {
  readonly via: 'console'
  /** The credential of the session. */
  readonly credential: string
}

/** The sign-ins of people at the upstreams of a gateway, for a console or a command. */
export interface SignIns {
  /** Returns the names of the running upstreams that people sign in to. */
  upstreams(): readonly string[]
  /** Returns the upstreams that people sign in to, with the state of this person. */
  list(person: Person): Promise<readonly UpstreamSignIn[]>
  /** Returns the address of the page to open. It is the same until it expires, 15 minutes later. */
  start(person: Person, upstream: string, origin?: SignInOrigin): Promise<{ readonly url: string }>
  /** Connects the account if the code of the page is right. Otherwise throws an `RpcError` that says what to do. */
  confirm(person: Person, upstream: string, code: string, origin?: SignInOrigin): Promise<void>
  /** Forgets the tokens, and revokes them at the authorization server if it offers that. */
  revoke(person: Person, upstream: string, origin?: SignInOrigin): Promise<void>
}

/** The part of `SignIns` that one upstream has. */
export interface PersonSignIns {
  state(person: Person): Promise<Omit<UpstreamSignIn, 'upstream'>>
  start(person: Person, origin?: SignInOrigin): Promise<string>
  confirm(person: Person, code: string, origin?: SignInOrigin): Promise<void>
  revoke(person: Person, origin?: SignInOrigin): Promise<void>
}

/** How callers get a credential at an upstream: `signIn({ … })` or `exchangeTokens({ … })` of `sluice/gateway-auth`. */
export interface UpstreamAuth {
  open(context: AuthContext): CallerAuth
}

/** What the gateway gives to the credentials of one upstream. */
export interface AuthContext extends Pick<Services, 'clock' | 'logger' | 'audit' | 'secrets' | 'hasSecret'> {
  /** The upstream's name. */
  readonly upstream: string
  /** Holds the records of this upstream at this address. Tokens for another address are not found in it. */
  readonly store: Store
  /** The address of the upstream. */
  readonly url: string
  readonly allowHosts?: readonly string[] | undefined
  readonly sender?: HttpSender | undefined
  /** Called after a credential came or went. Ends the connection that used the old one. */
  changed(holder: CredentialHolder, hasCredential: boolean): Promise<void>
}

/** The credentials of callers while the gateway runs. */
export interface CallerAuth {
  /** Returns the credential of one caller for the connection of that caller. It never falls back to another one. */
  authorizationFor(holder: CredentialHolder): Authorization
  /** Passes the call on if its caller has a credential. Otherwise asks for it, or refuses. */
  admit(call: Call, next: Handler): Promise<Answer>
  /** Returns the caller whose credential lists the definitions; `undefined` if none has one yet. */
  lister(): Promise<CredentialHolder | undefined>
  /** Returns what separates the connections of one caller besides the caller. */
  credentialOf?(call: Call): string
  /** Serves the page that browsers are sent back to; `undefined` if the state in `query` is not one of this upstream. */
  callback?(query: string): Promise<Page | undefined>
  /** Returns the tool by which callers sign in. */
  tool?(name: string): Tool
  readonly signIns?: PersonSignIns
}

/** The path of the page that browsers are sent back to, below the path of an endpoint. */
export const callbackPath = '/sign-in/callback'
