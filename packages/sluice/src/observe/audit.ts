/**
 * The audit log: the caller, the action, the tenant and the outcome of each call. There is one record just before the
 * work runs, and one for every answer and refusal. Each tenant has a chain that `verifyAudit` checks. A digest stands
 * for the arguments, so that the log can be kept longer and read by more people.
 */

import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { EndedCall, Observer } from '../core/observer.ts'
import type { Store } from '../core/store.ts'
import { callerOf, tenantOf } from './call-identity.ts'
import { createChain } from './chain.ts'
import type { Retention } from './retention.ts'
import { createWriteQueues } from './write-queue.ts'

export interface AuditOptions {
  /**
   * Runs nothing before its record is in the store. While the store is unavailable, calls are refused with
   * `storeUnavailable`. Off by default, because every pause of the store would then pause all calls. Only the record
   * before the run is awaited, because refusing an answer after the effect would hide the effect.
   */
  readonly blocking?: boolean
  /**
   * Maximum number of records that wait for an unavailable store. Further ones are dropped and counted, so that memory
   * is bounded.
   */
  readonly maxQueued?: number
  /**
   * How long and how much is kept, per tenant. Everything by default. Servers that listen apply it hourly; otherwise
   * call `pruneAudit`. It signs checkpoints, so the server needs a `secret`.
   */
  readonly retention?: Retention
}

export interface Audit {
  /** For `observe`: records every answer and refusal. */
  readonly observer: Observer
  /** The innermost layer, just outside `run`. Calls that pass it run. */
  readonly layer: Layer
  /** Records events that are not calls: a ticket proposed, decided or spent. Pass values, never arguments. */
  record(tenant: string, kind: string, fields: Params): void
  /** Number of records lost because the store was unavailable for too long. */
  readonly dropped: number
  flush(): Promise<void>
  /** Writes the waiting records, with one retry if needed, and stops retrying. */
  close(): Promise<void>
}

/** How long a call waits for its record if `blocking` is on. */
const recordTimeoutMs = 1_000

/** Creates the audit. `reference` makes the name that a call's records share, and the name of this process. */
export function createAudit(
  store: Store,
  clock: Clock,
  reference: () => string,
  { blocking = false, maxQueued = 10_000 }: AuditOptions = {},
): Audit {
  const writer = reference()
  const queues = createWriteQueues({ clock, max: maxQueued, writer: (tenant) => createChain(store, tenant, writer) })

  function recordStart(call: Call): Promise<void> | undefined {
    const { facts, caller, tenant } = call
    facts['caller'] ??= caller.subject
    facts['tenant'] ??= tenant.id
    facts['audit'] ??= reference()
    return queues.put(tenant.id, { at: clock.now(), kind: 'started', ...callFields(call), ...digests(call) })
  }
  function withTimeout(put: Promise<void> | undefined): Promise<void> {
    if (!put) return Promise.reject(new Error('The audit queue is full'))
    return new Promise((resolve, reject) => {
      const cancelTimer = clock.after(recordTimeoutMs, () => reject(new Error('The store did not respond in time')))
      put.then(resolve, reject).finally(cancelTimer)
    })
  }
  return {
    observer(event) {
      const { call } = event
      const isStarted = call.facts['audit'] !== undefined
      // Lists, pings and handshakes have no effect, so only their refusals are recorded.
      if (call.target.kind === 'method' && !event.failed) return
      call.facts['audit'] ??= reference()
      // The call has ended. The queue counts records that it cannot write, and tries again.
      queues.put(tenantOf(call), { ...endedRecord(event), ...(isStarted ? undefined : digests(call)) })?.catch(() => {})
    },
    layer: (next) =>
      function audit(call) {
        if (call.target.kind === 'method') return next(call)
        const put = recordStart(call)
        if (!blocking) return next(call)
        return withTimeout(put).then(
          () => next(call),
          (cause) => {
            throw new RpcError(
              'storeUnavailable',
              'Not run: the audit log is unavailable and "blocking" is on; try again later',
              { cause },
            )
          },
        )
      },
    record: (tenant, kind, fields) => {
      // The queue counts the records it drops, and retries those it could not write.
      queues.put(tenant, { at: clock.now(), kind, ...fields })?.catch(() => {})
    },
    get dropped() {
      return queues.dropped
    },
    flush: queues.flush,
    close: queues.close,
  }
}

const callFields = (call: Call): Params => ({
  call: call.facts['audit'],
  id: call.id,
  method: call.method,
  target: call.target.name,
  caller: callerOf(call),
  credential: call.facts['credential'] ?? call.caller.credential,
})

/** Returns the record of an ended call. Facts come first, so that none replaces a field of the runtime. */
function endedRecord({ call, outcome, receivedAt, durationMs }: EndedCall): Params {
  const { audit: _, caller: _1, tenant: _2, ...facts } = call.facts
  return { ...facts, at: receivedAt + durationMs, kind: 'ended', ...callFields(call), outcome, durationMs }
}

/** Returns the digests that the call is bound to: its definition, its arguments and the person's answers. */
const digests = ({ args, answers, target }: Call): Params => ({
  definition: definitionHash(target),
  args: digestOf(args),
  ...(Object.keys(answers).length > 0 && { given: digestOf(answers) }),
})

/** Digests a value. Programs may pass in values that are not JSON, and such a call is recorded too. */
function digestOf(value: unknown): string {
  try {
    return digest(value)
  } catch {
    return 'not JSON'
  }
}
