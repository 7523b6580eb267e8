/** The record of a legacy session that processes share: the state of its connection, and the slot that it occupies. */

import type { ConnectionState } from '../../../core/connection-state.ts'
import type { SessionSlot } from './session-slots.ts'

export interface SessionRecord {
  readonly state: ConnectionState
  readonly slot: SessionSlot
}

export const serializeRecord = ({ state, slot }: SessionRecord): string =>
  JSON.stringify({ slot, state: { ...state, subscriptions: [...state.subscriptions] } })

/** Parses the text that `serializeRecord` made. It comes from our own store, which no client writes to. */
export function parseRecord(text: string): SessionRecord {
  const { slot, state }: { slot: SessionSlot; state: ConnectionState & { subscriptions: string[] } } = JSON.parse(text)
  const { agreed, owner, tenant } = state
  return { slot, state: { ...state, agreed, owner, tenant, subscriptions: new Set(state.subscriptions) } }
}
