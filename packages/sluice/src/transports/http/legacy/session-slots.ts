/**
 * Limits the number of sessions in a store that processes share. Each session occupies a numbered slot, which is freed
 * when the session ends or expires.
 *
 * A group is an owner, or the network of an anonymous caller. Each group can reach only its share of the slots, chosen
 * by its name, so that no group can fill the table for the others. Guests are sessions that a caller opened without
 * authenticating where callers must authenticate. They have a small table, in which a new guest takes over the slot of
 * an older one. So their handshake is never refused, and never costs a member its session.
 */

import { RpcError } from '../../../core/error.ts'
import { sha256 } from '../../../core/sha256.ts'
import type { Key, Store } from '../../../core/store.ts'

export interface SessionSlot {
  readonly table: 'guest' | 'member'
  readonly index: number
}

export interface SessionSlots {
  /** Occupies a slot. Rejects with `overloaded` if the group has none free. */
  claim(table: SessionSlot['table'], group: string, session: string): Promise<SessionSlot>
  /** Renews the slot. False if another session took it over. */
  renew(slot: SessionSlot, session: string): Promise<boolean>
  release(slot: SessionSlot, session: string): Promise<void>
  /** How long a session of this table may be silent. */
  ttlMs(slot: SessionSlot): number
}

export interface SessionSlotsOptions {
  readonly store: Store
  readonly idleMs: number
  readonly max: number
  /** Ends the session whose slot was taken over. */
  evict(session: string): Promise<void>
}

export const guestLimits: { readonly max: number; readonly idleMs: number; readonly share: number } = {
  max: 1000,
  /** Long enough to sign in with a browser after the handshake. */
  idleMs: 5 * 60_000,
  share: 32,
}
export const tooManySessions = (): RpcError =>
  new RpcError('overloaded', 'Too many sessions are open: try again later', { data: { retryAfterMs: 1000 } })

/** At half the table occupied, one claim in 256 finds none of its probes free. */
const probes = 8

export function createSessionSlots({ store, idleMs, max, evict }: SessionSlotsOptions): SessionSlots {
  const tables = {
    guest: { size: guestLimits.max, share: guestLimits.share, ttlMs: Math.min(idleMs, guestLimits.idleMs) },
    // A group reaches at most half of the slots, so that another group finds a free one within a few probes.
    member: { size: 2 * max, share: max, ttlMs: idleMs },
  }
  const keyOf = ({ table, index }: SessionSlot): Key => ['slot', table, String(index)]
  function pick(table: SessionSlot['table'], group: string): SessionSlot {
    const { size, share } = tables[table]
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
    const hash = sha256(`${group} ${random % share}`)
    return { table, index: Number.parseInt(hash.slice(0, 8), 16) % size }
  }
  return {
    async claim(table, group, session) {
      const { ttlMs } = tables[table]
      for (let probe = 0; probe < probes; probe++) {
        const slot = pick(table, group)
        if (await store.swap(keyOf(slot), undefined, session, ttlMs)) return slot
      }
      if (table === 'member') throw tooManySessions()
      const slot = pick(table, group)
      const previous = await store.get(keyOf(slot))
      await store.set(keyOf(slot), session, ttlMs)
      if (previous !== undefined) await evict(previous)
      return slot
    },
    renew: (slot, session) => store.swap(keyOf(slot), session, session, tables[slot.table].ttlMs),
    async release(slot, session) {
      // By swap, because another session may have taken the slot over. A TTL of one millisecond deletes it.
      await store.swap(keyOf(slot), session, '', 1)
    },
    ttlMs: ({ table }) => tables[table].ttlMs,
  }
}
