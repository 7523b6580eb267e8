/**
 * Who did what, for whom, and how it ended: a record just before the work runs and one for every answer and refusal, in a
 * chain per tenant that `verifyAudit` checks. A digest stands for the arguments, so the log can be kept for longer and
 * read by more people than they could.
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
   * Nothing runs before its record is in the store; while that is away, calls are refused with `storeUnavailable`. Off,
   * because then the store's every pause is one of all calls. Only the record before the run is waited for: refusing an
   * answer after the effect would hide it.
   */
  readonly blocking?: boolean
  /** Records that may wait for a store that is away; further ones are dropped and counted, so memory does not fill up. */
  readonly maxQueued?: number
  /**
   * How long and how much is kept, per tenant; everything, by default. Applied hourly by servers that listen; elsewhere
   * call `pruneAudit`. Signs checkpoints, so the server needs a `secret`.
   */
  readonly retention?: Retention
}

export interface Audit {
  /** For `observe`: every answer and refusal. */
  readonly observer: Observer
  /** The innermost layer, just outside `run`: what passes here runs. */
  readonly layer: Layer
  /** For what is no call: a ticket proposed, decided or spent. Values, never arguments. */
  record(tenant: string, kind: string, fields: Params): void
  /** Records lost because the store was away for too long. */
  readonly dropped: number
  flush(): Promise<void>
  /** Writes what is waiting, once more if need be, and stops trying. */
  close(): Promise<void>
}

/** How long a call waits for its record where `blocking` is on. */
const recordTimeoutMs = 1_000

/** `reference` makes the name that a call's records share, and the one this process goes by. */
export function createAudit(
  store: Store,
  clock: Clock,
  reference: () => string,
  { blocking = false, maxQueued = 10_000 }: AuditOptions = {},
): Audit {
  const writer = reference()
  const queues = createWriteQueues({ clock, max: maxQueued, writer: (tenant) => createChain(store, tenant, writer) })

  function begin(call: Call): Promise<void> | undefined {
    const { facts, caller, tenant } = call
    facts['caller'] ??= caller.subject
    facts['tenant'] ??= tenant.id
    facts['audit'] ??= reference()
    return queues.put(tenant.id, { at: clock.now(), kind: 'started', ...callFields(call), ...digests(call) })
  }
  function within(put: Promise<void> | undefined): Promise<void> {
    if (!put) return Promise.reject(new Error('The queue is full'))
    return new Promise((resolve, reject) => {
      const callOff = clock.after(recordTimeoutMs, () => reject(new Error('The store is slow')))
      put.then(resolve, reject).finally(callOff)
    })
  }
  return {
    observer(event) {
      const { call } = event
      const isStarted = call.facts['audit'] !== undefined
      // Lists, pings and handshakes do nothing to anybody; being refused them is worth knowing.
      if (call.target.kind === 'method' && !event.failed) return
      call.facts['audit'] ??= reference()
      // The call is over: what cannot be written is counted by the queue, which tries again.
      queues.put(tenantOf(call), { ...endedRecord(event), ...(isStarted ? undefined : digests(call)) })?.catch(() => {})
    },
    layer: (next) =>
      function audit(call) {
        if (call.target.kind === 'method') return next(call)
        const put = begin(call)
        if (!blocking) return next(call)
        return within(put).then(
          () => next(call),
          (cause) => {
            throw new RpcError('storeUnavailable', 'What happens here must be recorded first, and cannot be', { cause })
          },
        )
      },
    record: (tenant, kind, fields) => {
      // The queue counts what it drops, and tries again what it could not write.
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

/** The facts first: none of them may stand for what the runtime itself knows. */
function endedRecord({ call, outcome, receivedAt, durationMs }: EndedCall): Params {
  const { audit: _, caller: _1, tenant: _2, ...facts } = call.facts
  return { ...facts, at: receivedAt + durationMs, kind: 'ended', ...callFields(call), outcome, durationMs }
}

/** What the call is bound to: its definition, its arguments, the person's answers. */
const digests = ({ args, answers: given, target }: Call): Params => ({
  definition: definitionHash(target),
  args: digestOf(args),
  ...(Object.keys(given).length > 0 && { given: digestOf(given) }),
})

/** Programs may hand in what is no JSON; that call is recorded, too. */
function digestOf(value: unknown): string {
  try {
    return digest(value)
  } catch {
    return 'not JSON'
  }
}
