/**
 * The state that a connection negotiated and subscribed to: plain data that is replaced as a whole.
 *
 * It changes only through the operations below. Processes that share a session apply an operation to the stored state,
 * never to their own copy. Otherwise one process would undo what another one acknowledged.
 */

import type { Agreement } from './agreement.ts'
import { agreementOf } from './agreement.ts'
import { RpcError } from './error.ts'
import type { Params } from './json.ts'

export interface ConnectionState {
  /** The result of `initialize`. `undefined` before it, and for clients of 2026-07-28. */
  readonly agreed: Agreement | undefined
  /** The first caller that authenticated on this connection. */
  readonly owner: string | undefined
  /** Set by `logging/setLevel`. */
  readonly logLevel: string
  /** The tenant of the call that subscribed. The connection is notified of this tenant's changes only. */
  readonly tenant: string | undefined
  /** Resource URIs that a legacy client subscribed to. */
  readonly subscriptions: ReadonlySet<string>
}

export type StateChange =
  /** `params` are those of `initialize`. */
  | { readonly kind: 'agree'; readonly revision: string; readonly params: Params }
  | { readonly kind: 'own'; readonly owner: string }
  | { readonly kind: 'level'; readonly level: string }
  | { readonly kind: 'subscribe'; readonly uri: string; readonly tenant: string | undefined }
  | { readonly kind: 'unsubscribe'; readonly uri: string }

/** Total characters of the URIs that one connection may hold. It is limited because the client chooses them. */
const maxUriChars = 64 * 1024
const maxUris = 1000

export const initialState: ConnectionState = {
  agreed: undefined,
  owner: undefined,
  logLevel: 'info',
  tenant: undefined,
  subscriptions: new Set(),
}

/** Returns the state after the change. Throws if the change cannot be made. */
export function applyChange(state: ConnectionState, change: StateChange): ConnectionState {
  switch (change.kind) {
    case 'agree':
      return { ...state, agreed: agreementOf(change.revision, change.params) }
    case 'own':
      return state.owner === undefined ? { ...state, owner: change.owner } : state
    case 'level':
      return { ...state, logLevel: change.level }
    case 'subscribe': {
      const subscriptions = new Set(state.subscriptions).add(change.uri)
      if (subscriptions.size > maxUris || charsIn(subscriptions) > maxUriChars)
        throw new RpcError('rateLimited', `At most ${maxUris} subscriptions of ${maxUriChars} characters in all`)
      return { ...state, subscriptions, tenant: change.tenant }
    }
    case 'unsubscribe': {
      const subscriptions = new Set(state.subscriptions)
      subscriptions.delete(change.uri)
      return { ...state, subscriptions }
    }
  }
}

function charsIn(texts: Iterable<string>): number {
  let chars = 0
  for (const text of texts) chars += text.length
  return chars
}
