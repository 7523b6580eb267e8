/** The entry `sluice/jwt`: verifiers for access tokens that an issuer signed. */

import type { Verifier } from './authenticate-credential.ts'
import type { KeySource } from './key-source.ts'
import type { JwtDeps, TokenRules } from './token-verifier.ts'
import { createTokenVerifier } from './token-verifier.ts'

export type { OAuthOptions } from './oauth.ts'
export { oauth } from './oauth.ts'
export type { JwtDeps, TokenRules } from './token-verifier.ts'

/** The accepted issuer and audience, and the keys that sign the tokens. */
export type JwtOptions = KeySource & TokenRules

/** Creates a verifier for the tokens of one issuer whose keys you configure, for `authenticate`. */
export const jwt = (options: JwtOptions, deps: JwtDeps = {}): Verifier => createTokenVerifier(options, options, deps)
