/**
 * Running calls in the store: one value per call, changed by `swap` alone.
 *
 * 1. A call is acknowledged only after its record is written, so every process finds it until its time is up.
 * 2. At most one process runs a call. The record names that process from the start, or one `swap` from "none" names it;
 *    it never changes to another process.
 * 3. The process that a record names holds a lease (`core/process-lease.ts`) before it is named. Once the lease is gone
 *    the call is in doubt: any process that looks ends it as failed, and it never runs again.
 * 4. An outcome is written once and never changes. After it nothing else does.
 * 5. A question has a key that no other question of the call ever has. It is answered once: later answers to it, and
 *    answers to keys that are not open, change nothing.
 * 6. An answer that was acknowledged is in the record, until the process that asked has read it and moved on.
 * 7. A step whose write failed may have been made all the same. Each can be made again: it then changes nothing.
 */

import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import { isProcessAlive } from '../core/process-lease.ts'
import type { Key, Store } from '../core/store.ts'
import type { RunningCall } from './record.ts'
import { parseRunningCall, runningCallToText } from './record.ts'
import type { Step } from './transitions.ts'

export interface RunningCallStore {
  /** Rejects if the call could not be written: then it must not be acknowledged. */
  create(call: RunningCall): Promise<StoredCall>
  /** `undefined` if there is no such call, or its time is up. */
  read(tenant: string, id: string): Promise<RunningCall | undefined>
  /**
   * Takes a step. Resolves with the record as it is then, and whether this step changed it. `last` is the record that
   * this process wrote last: it is read again only if another process has changed it since.
   */
  change(tenant: string, id: string, step: Step, last?: StoredCall): Promise<ChangedCall | undefined>
  delete(tenant: string, id: string): Promise<void>
  /** Whether the process that runs the call is gone. */
  isAbandoned(call: RunningCall): Promise<boolean>
}

/** A record, and its text in the store. */
export interface StoredCall {
  readonly call: RunningCall
  readonly text: string
}

export interface ChangedCall extends StoredCall {
  readonly changed: boolean
}

/** Only the caller, its processes and a few others change one record. */
const maxTries = 50

/** `store` is the server's part of the store. `area` is the first part of the keys: `task`. */
export function createRunningCallStore(store: Store, clock: Clock, area: string): RunningCallStore {
  const keyOf = (tenant: string, id: string): Key => [area, tenant, id]
  const write = ({ call, text }: StoredCall, from: string | undefined): Promise<boolean> =>
    store.swap(keyOf(call.tenant, call.id), from, text, Math.max(1, call.until - clock.now()))

  async function find(tenant: string, id: string): Promise<StoredCall | undefined> {
    const text = await store.get(keyOf(tenant, id))
    if (text === undefined) return undefined
    const call = parseRunningCall(text)
    return isKept(call) ? { call, text } : undefined
  }
  const isKept = ({ until }: RunningCall): boolean => until > clock.now()
  return {
    async create(call) {
      const created = toStored(call)
      if (await write(created, undefined)) return created
      // Written by a first try whose answer was lost. Ids are random, so nothing else can be there.
      if ((await find(call.tenant, call.id))?.text === created.text) return created
      throw new RpcError('storeUnavailable', 'The record of this call could not be written: nothing was run')
    },
    read: async (tenant, id) => (await find(tenant, id))?.call,
    async change(tenant, id, step, last) {
      let known = last && isKept(last.call) ? last : undefined
      for (let tries = 0; tries < maxTries; tries++) {
        const found = known ?? (await find(tenant, id))
        if (!found) return undefined
        const to = step(found.call, clock.now())
        if (to) {
          const changed = toStored(to)
          if (await write(changed, found.text)) return { call: to, text: changed.text, changed: true }
        } else if (!known) return { call: found.call, text: found.text, changed: false }
        known = undefined
      }
      throw new RpcError('storeUnavailable', 'The record of this call changes faster than it can be read: try again')
    },
    delete: (tenant, id) => store.delete(keyOf(tenant, id)),
    isAbandoned: async ({ process, outcome }) =>
      process !== undefined && !outcome && !(await isProcessAlive(store, process)),
  }
}

const toStored = (call: RunningCall): StoredCall => ({ call, text: runningCallToText(call) })
