/**
 * The audit: which caller did what, for which tenant, and how it ended. One record just before the work runs and one for
 * every answer and refusal, in a chain per tenant that `verifyAudit` checks. Arguments are stored as digests, so that the
 * log can be kept for longer and read by more people than the arguments could.
 */

import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { silentLogger } from '../core/log.ts'
import type { EndedCall } from '../core/observer.ts'
import type { AuditLog, SlotPlugin } from '../core/plugin.ts'
import type { Secret } from '../core/secrets.ts'
import { secretsOf } from '../core/secrets.ts'
import type { Store } from '../core/store.ts'
import { newErrorId } from '../core/unique-id.ts'
import { withTimeout } from '../core/with-timeout.ts'
import { callerOf, tenantOf } from './call-identity.ts'
import { createChain } from './chain.ts'
import type { AuditVerdict } from './chain-verify.ts'
import { verifyAudit } from './chain-verify.ts'
import type { Retention } from './retention.ts'
import { createRetention } from './retention.ts'
import { createWriteQueues } from './write-queue.ts'

/** What a record waits for, and how long records are kept. */
export interface AuditOptions {
  /**
   * Writes the record of a call before the call runs, and refuses the call with `storeUnavailable` if that fails. Off by
   * default, because every pause of the store would then pause all calls. Answers are never held back: refusing one after
   * the effect would hide it.
   */
  readonly blocking?: boolean
  /** Records that may wait for an unavailable store; further ones are dropped and counted, so that memory is bounded. */
  readonly maxQueued?: number
  /**
   * How long and how much is kept, per tenant; everything by default. Applied hourly by servers that listen; elsewhere
   * call `pruneAudit`. It signs checkpoints, so it needs a secret.
   */
  readonly retention?: Retention
}

/** What an audit needs that is made before its servers. */
export interface CreateAuditOptions extends AuditOptions {
  /** The store of the servers whose calls it records. */
  readonly store: Store
  readonly clock?: Clock
  readonly logger?: Logger
  /** Signs checkpoints, which take the place of pruned records. Needed for `retention`, and to verify across a cut. */
  readonly secret?: Secret | undefined
}

/** The audit of all servers that share a store: a plugin for each of them, and a log for what is not a call. */
export interface Audit extends SlotPlugin<'audit'>, AuditLog {
  readonly store: Store
  /** Checks the chain of one tenant, record by record. */
  verify(tenant: string): Promise<AuditVerdict>
  /** Records that were lost because the store was unavailable for too long. */
  readonly dropped: number
  flush(): Promise<void>
  /** Writes what is queued, and stops. The last server that closes calls it. */
  close(): Promise<void>
}

/** How long a call waits for its record if "blocking" is on. */
const recordTimeoutMs = 1_000

/** Creates the audit of all servers that share a store. */
export function createAudit(options: CreateAuditOptions): Audit {
  const { store, clock = systemClock, logger = silentLogger, secret, blocking = false, maxQueued = 10_000 } = options
  if (options.retention && secret === undefined)
    throw new TypeError('audit: "retention" signs what remains, so set "secret" as well')
  const secrets = secret === undefined ? () => [] : secretsOf(secret, { shared: false, edge: false })
  const writer = newErrorId()
  const queues = createWriteQueues({ clock, max: maxQueued, writer: (tenant) => createChain(store, tenant, writer) })
  const retention = options.retention && createRetention(options.retention, { store, clock, logger, secrets })
  let servers = 0

  function recordStart(call: Call): Promise<void> | undefined {
    const { facts, caller, tenant } = call
    facts['caller'] ??= caller.subject
    facts['tenant'] ??= tenant.id
    facts['audit'] ??= newErrorId()
    return queues.put(tenant.id, { at: clock.now(), kind: 'started', ...callFields(call), ...digests(call) })
  }
  function ended(event: EndedCall): void {
    const { call } = event
    const isStarted = call.facts['audit'] !== undefined
    // Lists, pings and handshakes have no effect. A refusal of one is worth a record.
    if (call.target.kind === 'method' && !event.failed) return
    call.facts['audit'] ??= newErrorId()
    // The call has ended: the queue retries, and counts what it cannot write.
    queues.put(tenantOf(call), { ...endedRecord(event), ...(isStarted ? undefined : digests(call)) })?.catch(() => {})
  }
  /** Stands innermost, just outside `run`: a call that passes here runs. */
  const layer: Layer = (next) =>
    function audit(call) {
      if (call.target.kind === 'method') return next(call)
      const put = recordStart(call)
      if (!blocking) return next(call)
      const recorded = put ? withTimeout(put, recordTimeoutMs, clock) : Promise.reject(new Error('The queue is full'))
      return recorded.then(
        () => next(call),
        (cause) => {
          throw new RpcError('storeUnavailable', 'Not run: the audit log is unavailable and "audit" is set to block', {
            cause,
          })
        },
      )
    }
  const audit: AuditLog = {
    record(tenant, kind, fields) {
      // The queue retries, and counts what it drops.
      queues.put(tenant, { at: clock.now(), kind, ...fields })?.catch(() => {})
    },
  }
  async function close(): Promise<void> {
    await retention?.close()
    await queues.close()
  }

  return {
    slot: 'audit',
    create(services) {
      if (services.store !== store)
        throw new TypeError('audit: a server and its audit share a store, so pass the same "store" to both')
      servers++
      services.gauges.push({
        name: 'sluice_audit_dropped_total',
        help: 'Audit records lost.',
        type: 'counter',
        read: () => queues.dropped,
      })
      return {
        ...{ audit, layer, observer: { ended }, flush: queues.flush },
        ready: async () => retention?.start(),
        async close() {
          if (--servers === 0) await close()
        },
      }
    },
    record: audit.record,
    store,
    verify: (tenant) => verifyAudit(store, tenant, { clock, secrets }),
    get dropped() {
      return queues.dropped
    },
    flush: queues.flush,
    close,
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
