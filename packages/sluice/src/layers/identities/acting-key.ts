/**
 * Lets the console make a call as an API key whose secret no one has: keys are stored as hashes. The permission is tied
 * to the identity of one `Via` object of this process, so nothing that a client sends can claim it.
 */

import type { Via } from '../../core/call.ts'

const acting = new WeakMap<Via, string>()

/** Makes the calls that come in with `via` calls of this key. */
export const actAsKey = (via: Via, keyId: string): void => {
  acting.set(via, keyId)
}

/** Returns the id of the key that calls with `via` act as; `undefined` for every call from outside. */
export const actingKeyOf = (via: Via): string | undefined => acting.get(via)
