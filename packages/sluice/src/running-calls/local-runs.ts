/**
 * The calls with a record that this process runs, and how many there may be. Changes that other processes make arrive by
 * the bus. A message can be lost, so the record is also read every 5 s.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { Counts } from '../core/counts.ts'
import { RpcError } from '../core/error.ts'
import type { Quota, RunningWork } from '../core/plugin.ts'

export interface RunCaps {
  readonly perCaller: number
  readonly perTenant: number
  readonly perProcess: number
}

export interface LocalRuns {
  readonly size: number
  readonly quota: Quota
  /** Throws `rateLimited` if the caller, its tenant or this process has too many. Returns a function that frees the place. */
  reserve(tenant: string, subject: string): () => void
  /** Whether this process has claimed the call, or is about to. */
  has(id: string): boolean
  /** Marks a call as claimed here. False if it is already. */
  enter(id: string): boolean
  leave(id: string): unknown
  /** Lets operators see a call. Returns a function that ends it. */
  show(describe: () => RunningWork): () => void
  /** Calls `wake` when the record of a call may have changed. Returns a function that ends it. */
  watch(id: string, wake: () => void, looks?: boolean): () => void
  /** Tells all processes that the record of a call changed. */
  announce(id: string): void
  close(): void
}

export const pollMs = 5_000

interface LocalRunsOptions {
  readonly name: string
  /** What the calls are called, in the plural: `tasks`. */
  readonly noun: string
  readonly bus: Bus
  readonly clock: Clock
  readonly caps: RunCaps
  /** The store is in this process, so the bus reaches every process. */
  readonly inProcess: boolean
}

export function createLocalRuns({ name, noun, bus, clock, caps, inProcess }: LocalRunsOptions): LocalRuns {
  const channel = `${noun} ${name}`
  /** Each list is replaced, never changed, because a watcher may end while the list is read. */
  const watchers = new Map<string, readonly (() => void)[]>()
  /** Nested, because one joined key per call would cost more than the counting. */
  const tenants = new Map<string, { size: number; readonly callers: Counts<string> }>()
  const ids = new Set<string>()
  const shown = new Set<() => RunningWork>()
  let size = 0
  let unsubscribe: (() => void) | undefined
  const tooMany = (scope: string): RpcError =>
    new RpcError('rateLimited', `Too many ${noun} of this ${scope} are open: wait until one ends, then try again`, {
      data: { retryAfterMs: 5_000 },
    })
  const notify = (id: string): void => {
    for (const wake of watchers.get(id) ?? []) wake()
  }
  return {
    get size() {
      return size
    },
    quota: {
      name: `${noun} at once`,
      of: (tenant) => ({ used: tenants.get(tenant)?.size ?? 0, most: caps.perTenant }),
      running: () => [...shown].map((describe) => describe()),
    },
    reserve(tenant, subject) {
      const known = tenants.get(tenant)
      const ofTenant = known ?? { size: 0, callers: new Counts<string>() }
      if (ofTenant.callers.get(subject) >= caps.perCaller) throw tooMany('caller')
      if (ofTenant.size >= caps.perTenant) throw tooMany('tenant')
      if (size >= caps.perProcess) throw tooMany('process')
      if (!known) tenants.set(tenant, ofTenant)
      size++
      ofTenant.size++
      ofTenant.callers.add(subject, 1)
      return () => {
        size--
        ofTenant.callers.add(subject, -1)
        if (--ofTenant.size === 0) tenants.delete(tenant)
      }
    },
    has: (id) => ids.has(id),
    enter(id) {
      if (ids.has(id)) return false
      ids.add(id)
      return true
    },
    leave: (id) => ids.delete(id),
    show(describe) {
      shown.add(describe)
      return () => shown.delete(describe)
    },
    watch(id, wake, looks = !inProcess) {
      unsubscribe ??= bus.subscribe(channel, notify)
      const before = watchers.get(id)
      watchers.set(id, before ? [...before, wake] : [wake])
      let cancelTimer = (): void => {}
      const poll = (): void => {
        cancelTimer = clock.after(pollMs, () => {
          wake()
          poll()
        })
      }
      if (looks) poll()
      return () => {
        cancelTimer()
        const left = watchers.get(id)?.filter((each) => each !== wake) ?? []
        if (left.length > 0) watchers.set(id, left)
        else watchers.delete(id)
      }
    },
    announce(id) {
      // If this message is lost, the check every 5 s finds the change.
      bus.publish(channel, id).catch(() => {})
    },
    close() {
      unsubscribe?.()
      watchers.clear()
    },
  }
}
