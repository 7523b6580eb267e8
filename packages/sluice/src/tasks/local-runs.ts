/**
 * The tasks that this process runs, how many there may be, and how the process hears of changes made elsewhere: by the
 * bus, and because a message can be lost, by a look at the record every 5 s.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Quota } from '../core/plugin.ts'

export interface TaskCaps {
  /** Running tasks of one caller in this process: 20 by default. */
  readonly perCaller: number
  /** Running tasks of one tenant in this process: 100 by default. */
  readonly perTenant: number
  /** Running tasks in this process: 1000 by default. */
  readonly perProcess: number
}

export interface LocalRuns {
  readonly size: number
  readonly quota: Quota
  /** Throws `rateLimited` if the caller, its tenant or this process has too many tasks. Returns a function that frees the place. */
  reserve(tenant: string, subject: string): () => void
  /** Whether this process runs the task, or is about to. */
  has(id: string): boolean
  /** Marks a task as run here. False if it is already. */
  enter(id: string): boolean
  leave(id: string): void
  /** Calls `wake` when the record of a task may have changed. Returns a function that ends it. */
  watch(id: string, wake: () => void, looks?: boolean): () => void
  /** Tells all processes that the record of a task changed. */
  announce(id: string): void
  close(): void
}

export const pollMs = 5_000

interface LocalRunsOptions {
  readonly name: string
  readonly bus: Bus
  readonly clock: Clock
  readonly caps: TaskCaps
  /** The store is in this process, so the bus reaches every process. */
  readonly inProcess: boolean
}

export function createLocalRuns({ name, bus, clock, caps, inProcess }: LocalRunsOptions): LocalRuns {
  const channel = `tasks ${name}`
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
  const notify = (id: string): void => {
    for (const wake of [...(watchers.get(id) ?? [])]) wake()
  }
  return {
    get size() {
      return size
    },
    quota: {
      name: 'tasks at once',
      of: (tenant) => ({ used: count(JSON.stringify([tenant])), most: caps.perTenant }),
    },
    reserve(tenant, subject) {
      const [ofTenant, ofCaller] = [JSON.stringify([tenant]), JSON.stringify([tenant, subject])]
      if (size >= caps.perProcess || count(ofTenant) >= caps.perTenant || count(ofCaller) >= caps.perCaller)
        throw new RpcError('rateLimited', 'Too many tasks are running: wait until one ends, then try again', {
          data: { retryAfterMs: 5_000 },
        })
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
