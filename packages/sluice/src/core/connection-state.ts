/**
 * What a connection has agreed on and asked for: plain data that is replaced whole.
 *
 * It changes by the operations below and by nothing else. Processes that share a session apply an operation to what the
 * store holds, never to their own copy, so that no process undoes what another one acknowledged.
 */

import { RpcError } from './error.ts'
import type { Params } from './json.ts'

export interface Agreement {
  readonly revision: string
  readonly capabilities: Params
  readonly client: Params
}

export interface ConnectionState {
  /** What `initialize` agreed on; `undefined` before it, and for clients of 2026-07-28. */
  readonly agreed: Agreement | undefined
  /** The first caller that authenticated on it. */
  readonly owner: string | undefined
  /** Set by `logging/setLevel`. */
  readonly logLevel: string
  /** Whose changes it may hear of: the tenant of the call that subscribed. */
  readonly tenant: string | undefined
  /** Resource URIs a legacy client subscribed to. */
  readonly subscriptions: ReadonlySet<string>
}

export type StateChange =
  | { readonly kind: 'agree'; readonly agreed: Agreement }
  | { readonly kind: 'own'; readonly owner: string }
  | { readonly kind: 'level'; readonly level: string }
  | { readonly kind: 'subscribe'; readonly uri: string; readonly tenant: string | undefined }
  | { readonly kind: 'unsubscribe'; readonly uri: string }

/** Characters of all URIs that one connection, or one `subscriptions/listen`, may keep: the client chooses them. */
export const maxUriChars: number = 64 * 1024
const maxUris = 1000

export const initialState: ConnectionState = {
  agreed: undefined,
  owner: undefined,
  logLevel: 'info',
  tenant: undefined,
  subscriptions: new Set(),
}

/** Returns the state after the change, or throws why it cannot be made. */
export function applyChange(state: ConnectionState, change: StateChange): ConnectionState {
  switch (change.kind) {
    case 'agree':
      return { ...state, agreed: change.agreed }
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

export function charsIn(texts: Iterable<string>): number {
  let chars = 0
  for (const text of texts) chars += text.length
  return chars
}
