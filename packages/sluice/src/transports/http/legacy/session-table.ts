/**
 * Sessions in memory, in the order of their last use. A full table evicts an idle session for a new one. It is a
 * session of the same network if that network has its share already, otherwise the one that was silent longest. A
 * session with a running call or an open stream stays, so that a flood of handshakes costs no client its work.
 */

import type { Clock } from '../../../core/clock.ts'
import { Counts } from '../../../core/counts.ts'
import { tooManySessions } from './session-slots.ts'
import type { Session } from './sessions.ts'

export interface SessionTable {
  /** Throws `overloaded` if every session is busy. */
  add(session: Session): void
  /** Finds a session, and counts as a use of it. */
  touch(id: string): Session | undefined
  has(id: string): boolean
  delete(session: Session): void
  /** Evicts sessions that were silent for too long. */
  sweep(): void
  values(): readonly Session[]
  readonly size: number
}

export interface SessionTableOptions {
  readonly clock: Clock
  readonly max: number
  readonly idleMs: number
  /** How many sessions a network may have before its next session evicts one of the same network. */
  readonly share: number
  evict(session: Session): void
}

interface TableEntry {
  readonly session: Session
  until: number
}

export function createSessionTable({ clock, max, idleMs, share, evict }: SessionTableOptions): SessionTable {
  const entries = new Map<string, TableEntry>()
  const counts = new Counts<string>()
  function idle(network?: string): Session | undefined {
    for (const { session } of entries.values())
      if (!session.busy && (network === undefined || session.network === network)) return session
    return undefined
  }
  function makeRoom({ network }: Session): void {
    if (entries.size < max) return
    // Callers of unknown networks all have the same one, so they have no share.
    const hasShare = network !== '' && counts.get(network) >= share
    const candidate = hasShare ? idle(network) : idle()
    if (!candidate) throw tooManySessions()
    evict(candidate)
  }
  return {
    add(session) {
      makeRoom(session)
      entries.set(session.id, { session, until: clock.now() + idleMs })
      counts.add(session.network, 1)
    },
    touch(id) {
      const entry = entries.get(id)
      if (!entry) return undefined
      entry.until = clock.now() + idleMs
      entries.delete(id)
      entries.set(id, entry)
      return entry.session
    },
    has: (id) => entries.has(id),
    delete(session) {
      if (entries.delete(session.id)) counts.add(session.network, -1)
    },
    sweep() {
      for (const { session, until } of entries.values()) if (until <= clock.now() && !session.busy) evict(session)
    },
    values: () => [...entries.values()].map(({ session }) => session),
    get size() {
      return entries.size
    },
  }
}
