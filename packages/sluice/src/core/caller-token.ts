/**
 * The access tokens of callers, for a token exchange alone. A token lies beside the caller and not in it, so that no
 * tool, log line or copy of the caller contains it. API keys are not kept: they mean nothing to an authorization server.
 */

import type { Caller } from './call.ts'

/** Copies of a caller share its claims. */
const tokens = new WeakMap<Caller['claims'], string>()

/** Keeps the token of a caller for as long as the caller is in memory. */
export const keepCallerToken = ({ claims }: Caller, token: string): void => {
  tokens.set(claims, token)
}

/** Returns the access token that the caller came with; `undefined` for every other kind of credential. */
export const callerToken = ({ claims }: Caller): string | undefined => tokens.get(claims)
