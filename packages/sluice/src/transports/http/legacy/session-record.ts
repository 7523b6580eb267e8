/** What all processes know of a legacy session, as text: the state of its connection, and the slot that it occupies. */

import type { ConnectionState } from '../../../core/connection-state.ts'
import type { SessionSlot } from './session-slots.ts'

export interface SessionRecord {
  readonly state: ConnectionState
  readonly slot: SessionSlot
}

export const serializeRecord = ({ state, slot }: SessionRecord): string =>
  JSON.stringify({ slot, state: { ...state, subscriptions: [...state.subscriptions] } })

/** Reads what `serializeRecord` made: from our own store, where no client writes. */
export function parseRecord(text: string): SessionRecord {
  const { slot, state }: { slot: SessionSlot; state: ConnectionState & { subscriptions: string[] } } = JSON.parse(text)
  const { agreed, owner, tenant } = state
  return { slot, state: { ...state, agreed, owner, tenant, subscriptions: new Set(state.subscriptions) } }
}
