/**
 * The calls with a record that this process runs, and how many there may be. Changes that other processes make arrive by
 * the bus. A message can be lost, so the record is also read every 5 s.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Quota } from '../core/plugin.ts'

export interface RunCaps {
  /** Calls of one caller in this process. */
  readonly perCaller: number
  /** Calls of one tenant in this process. */
  readonly perTenant: number
  /** Calls in this process. */
  readonly perProcess: number
}

export interface LocalRuns {
  readonly size: number
  readonly quota: Quota
  /** Throws `rateLimited` if the caller, its tenant or this process has too many. Returns a function that frees the place. */
  reserve(tenant: string, subject: string): () => void
  /** Whether this process runs the call, or is about to. */
  has(id: string): boolean
  /** Marks a call as run here. False if it is already. */
  enter(id: string): boolean
  leave(id: string): void
  /** Calls `wake` when the record of a call may have changed. Returns a function that ends it. */
  watch(id: string, wake: () => void, looks?: boolean): () => void
  /** Tells all processes that the record of a call changed. */
  announce(id: string): void
  close(): void
}

export const pollMs = 5_000

interface LocalRunsOptions {
  /** The server's name. */
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
  const watchers = new Map<string, Set<() => void>>()
  const counts = new Map<string, number>()
  const count = (key: string): number => counts.get(key) ?? 0
  const add = (key: string, n: number): void => {
    const sum = count(key) + n
    if (sum === 0) counts.delete(key)
    else counts.set(key, sum)
  }
  const ids = new Set<string>()
  let size = 0
  let unsubscribe: (() => void) | undefined
  const tooMany = (scope: string): RpcError =>
    new RpcError('rateLimited', `Too many ${noun} of this ${scope} are open: wait until one ends, then try again`, {
      data: { retryAfterMs: 5_000 },
    })
  const notify = (id: string): void => {
    for (const wake of [...(watchers.get(id) ?? [])]) wake()
  }
  return {
    get size() {
      return size
    },
    quota: {
      name: `${noun} at once`,
      of: (tenant) => ({ used: count(JSON.stringify([tenant])), most: caps.perTenant }),
    },
    reserve(tenant, subject) {
      const [ofTenant, ofCaller] = [JSON.stringify([tenant]), JSON.stringify([tenant, subject])]
      if (count(ofCaller) >= caps.perCaller) throw tooMany('caller')
      if (count(ofTenant) >= caps.perTenant) throw tooMany('tenant')
      if (size >= caps.perProcess) throw tooMany('process')
      size++
      for (const key of [ofTenant, ofCaller]) add(key, 1)
      return () => {
        size--
        for (const key of [ofTenant, ofCaller]) add(key, -1)
      }
    },
    has: (id) => ids.has(id),
    enter(id) {
      if (ids.has(id)) return false
      ids.add(id)
      return true
    },
    leave(id) {
      ids.delete(id)
    },
    watch(id, wake, looks = !inProcess) {
      unsubscribe ??= bus.subscribe(channel, notify)
      const ofId = watchers.get(id) ?? new Set()
      watchers.set(id, ofId.add(wake))
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
        ofId.delete(wake)
        if (ofId.size === 0 && watchers.get(id) === ofId) watchers.delete(id)
      }
    },
    announce(id) {
      // The look every 5 s finds what a lost message would have told.
      bus.publish(channel, id).catch(() => {})
    },
    close() {
      unsubscribe?.()
      watchers.clear()
    },
  }
}
