/**
 * Leases of one process in a shared store. Work that a process has begun (a claim under a key, a task) names the process,
 * and is in doubt once that process has ended. A deadline could not decide that, because work may outlive it and must
 * not run twice.
 *
 * A process is alive while `process/<id>` is in the store. The key lasts 20 s and is renewed every 5 s while the process
 * holds a lease, so an idle process writes nothing. It is written before the first claim that names it.
 */

import type { Clock } from './clock.ts'
import type { Store } from './store.ts'
import { lateTimers } from './turn.ts'

export interface ProcessLease {
  /** Names this server of this process in the store. */
  readonly id: string
  /** Resolves once other processes can see that this one is alive. It stays visible until the returned function is called. */
  hold(): Promise<() => void>
  /** Ends the timers. Without leases the process counts as ended at once; otherwise when its key expires. */
  close(): Promise<void>
}

export const leaseMs = 20_000
const renewMs = 5_000

const leaseKey = (id: string): readonly string[] => ['process', id]

/** Returns whether the process with this id is running, or was running less than 20 s ago. */
export const isProcessAlive = async (store: Store, id: string): Promise<boolean> =>
  (await store.get(leaseKey(id))) !== undefined

/** `store` is the server's part of the store: its claims and tasks are there too. */
export function createProcessLease(store: Store, clock: Clock): ProcessLease {
  let name: string | undefined
  /** Made on first use: workerd allows no randomness at module scope. */
  const idOf = (): string => (name ??= crypto.randomUUID())
  const held = new Set<() => void>()
  const after = lateTimers(clock)
  let renewedAt: number | undefined
  let closed = false

  /** Returns `undefined` if the key was renewed a moment ago. A clock that was set back renews it too. */
  function renewIfDue(): Promise<void> | undefined {
    const now = clock.now()
    if (renewedAt !== undefined && now >= renewedAt && now - renewedAt < renewMs) return undefined
    return writeLease(now)
  }
  async function writeLease(now: number): Promise<void> {
    await store.set(leaseKey(idOf()), '', leaseMs)
    renewedAt = now
  }

  return {
    get id() {
      return idOf()
    },
    async hold() {
      const renewing = renewIfDue()
      if (renewing) await renewing
      // A timer per lease: on workerd a timer ends with the request that made it.
      let cancelTimer = (): void => {}
      const scheduleRenewal = (): void => {
        cancelTimer = after(renewMs, () => {
          // The key outlives three renewals that fail.
          renewIfDue()?.catch(() => {})
          scheduleRenewal()
        })
      }
      const release = (): void => {
        cancelTimer()
        held.delete(release)
      }
      if (!closed) scheduleRenewal()
      held.add(release)
      return release
    },
    async close() {
      closed = true
      const isIdle = held.size === 0
      for (const release of [...held]) release()
      if (isIdle && renewedAt !== undefined) await store.delete(leaseKey(idOf())).catch(() => {})
    },
  }
}
