/** `sluice/client-oauth`: sign-in for clients. A separate entry, so that only programs that sign in load it. */

export type { OAuthGrant } from './challenge.ts'
export type { RegisteredClient, SigningKey } from './client-identity.ts'
export type { TokenExchange } from './grants.ts'
export { createOAuth } from './oauth.ts'
export type { SavedSignIn, TextStore, TokenStore } from './tokens.ts'
export { memoryTokens, sealedTokens } from './tokens.ts'
export type { AssertionRequest, ClientOAuthOptions, OAuth, SignIn } from './types.ts'
