/**
 * Work under one key runs once. The key is the client's own or an approval's ticket; the record says started before the
 * work and done after it, so a crash in between leaves "started": in doubt, and never run again.
 *
 * The claim is a lease: it names the process that runs the work and holds for as long as that process is alive. A call
 * that outlives its deadline is still running, not in doubt, so nothing lets it run a second time.
 */

import type { Answer, Result } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { digest } from '../core/digest.ts'
import type { Bug } from '../core/error.ts'
import { bugOf, RpcError } from '../core/error.ts'
import type { IdempotencyRecord, KeyBinding, RunFailure, RunOutcome } from '../core/idempotency-record.ts'
import {
  cancelledWhileRunning,
  dayMs,
  isSameCall,
  isStillRunning,
  keyReused,
  outcomeOfRecord,
  parseIdempotencyRecord,
  recordToText,
} from '../core/idempotency-record.ts'
import type { Logger } from '../core/log.ts'
import type { ProcessLease } from '../core/process-lease.ts'
import { createProcessLease } from '../core/process-lease.ts'
import type { Key, Store } from '../core/store.ts'
import { hasIdempotencyKey, recordKeyOf } from './idempotency-key.ts'
import type { ClaimReleaser } from './release-claim.ts'
import { createClaimReleaser } from './release-claim.ts'

export interface IdempotencyOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** The name a client and the log share for one failure; a repeated answer names the first. */
  newErrorId(): string
  /** How long a key is remembered. Repeated later, the work runs again; longer costs room in the store. A day. */
  readonly keepMs?: number
  /** Characters of a record; a larger result is answered once and not kept, or callers could fill the store. 256 Ki. */
  readonly maxRecord?: number
  /** Handed in by whoever closes it. */
  readonly releaser?: ClaimReleaser
  /** The lease of this process, closed by the same owner. */
  readonly lease?: ProcessLease
}

interface RunningCall {
  readonly bound: KeyBinding
  /** Nothing: whoever came first left before it began. */
  readonly settled: Promise<RunOutcome | undefined>
}

export const idempotencyLayer = (store: Store, options: IdempotencyOptions): Layer => {
  const { clock, logger, newErrorId: reference, keepMs = dayMs, maxRecord = 262_144 } = options
  const releaser = options.releaser ?? createClaimReleaser(store, clock, keepMs)
  const lease = options.lease ?? createProcessLease(store, clock)
  const running = new Map<string, RunningCall>()

  return (next) => {
    // Most calls bring no key, and pass without a promise of this layer's own.
    return (call) => (call.target.kind === 'tool' && hasIdempotencyKey(call) ? keyed(call) : next(call))

    async function keyed(call: Call): Promise<Answer> {
      const place = recordKeyOf(call)
      const bound: KeyBinding = { tool: call.target.name, fingerprint: digest([call.args, call.answers]) }
      const name = JSON.stringify(place)
      for (let first = running.get(name); first; first = running.get(name)) {
        if (!isSameCall(first.bound, bound)) return toAnswer(call, keyReused)
        const settled = await first.settled
        if (settled) return toAnswer(call, settled)
        // Whoever came first left before it began: this one may.
      }
      const settled = claimAndRun(call, place, bound)
      running.set(name, { bound, settled })
      try {
        return toAnswer(call, (await settled) ?? stopFailure(call))
      } finally {
        running.delete(name)
      }
    }

    async function claimAndRun(call: Call, place: Key, bound: KeyBinding): Promise<RunOutcome | undefined> {
      if (call.stop.reason) return undefined
      // A ticket's claim outlives the ticket, whatever is said about keys: forgotten earlier, it could be spent again.
      const forMs = call.ticketId === undefined ? keepMs : Math.max(keepMs, dayMs)
      const started: StartedRecord = { state: 'started', process: lease.id, reference: reference(), ...bound }
      const claim = recordToText(started)
      let release = (): void => {}
      try {
        // First: a claim of a process that is not known to be alive would be in doubt from the start.
        release = await lease.hold()
        const kept = await claimed(place, claim, forMs)
        if (kept) {
          release()
          call.facts['once'] = kept.state
          return outcomeOfRecord(kept, bound, await isStillRunning(store, kept))
        }
      } catch (thrown) {
        release()
        logger.error({ event: 'onceStore', tool: bound.tool, ...causeFields(thrown) })
        releaser.schedule(place, claim)
        return {
          reason: 'storeUnavailable',
          message: 'Nothing was run: the state of this key cannot be read',
          data: {},
        }
      }
      const write = (to: IdempotencyRecord): Promise<void> => record({ place, claim, started, forMs, release }, to)
      if (call.stop.reason) {
        await write({ state: 'free' })
        return undefined
      }
      const settled = await settle(call, started.reference)
      await write('answer' in settled ? { state: 'done', ...bound, ...settled } : failedRecord(bound, settled))
      return settled
    }

    /** What came out, as it will be read back: who repeats the call gets the same bytes. */
    async function settle(call: Call, reference: string): Promise<RunOutcome> {
      try {
        const answer = await next(call)
        if (answer instanceof Prepared) throw new TypeError('A tool does not answer with a list')
        // Recorded, it would be the answer for good, and the work would never be finished.
        if (answer.resultType === 'input_required')
          throw new TypeError('A tool asks before it runs, by "ask": what ran under a key cannot be asked again')
        return { answer: JSON.parse(JSON.stringify(answer)) as Result }
      } catch (thrown) {
        if (!(thrown instanceof RpcError)) {
          const message = `Tool execution failed: ${call.target.name}`
          return { reason: 'toolCrashed', message, data: {}, reference, cause: thrown }
        }
        const { reason, message, data, cause } = thrown
        return reason === 'cancelled' ? cancelledWhileRunning : { reason, message, data, reference, cause }
      }
    }
  }

  /** Nothing: the place is ours. Otherwise what stands there. */
  async function claimed(
    place: Key,
    claim: string,
    forMs: number,
  ): Promise<Exclude<IdempotencyRecord, { state: 'free' }> | undefined> {
    for (let tries = 0, from: string | undefined; tries < 5; tries++) {
      if (await store.swap(place, from, claim, forMs)) return undefined
      from = await store.get(place)
      // Our own, by its reference: the store wrote it, lost the answer and was asked again.
      if (from === claim) return undefined
      const kept = from === undefined ? undefined : parseIdempotencyRecord(from)
      if (kept && kept.state !== 'free') return kept
    }
    throw new Error('The record of a key changed five times while it was read')
  }

  /** Replaces this call's claim only: an operator may have decided meanwhile. A write that fails is tried again later. */
  async function record({ place, claim, started, forMs, release }: HeldClaim, to: IdempotencyRecord): Promise<void> {
    const { tool, reference } = started
    const text = recordToText(to)
    const small = text.length <= maxRecord || to.state !== 'done' ? text : recordToText(withoutBody(to))
    try {
      const isWritten = await store.swap(place, claim, small, forMs)
      release()
      if (isWritten) return
      logger.warn({
        event: 'onceNotRecorded',
        tool,
        reference,
        message: 'the record is no longer the one this call made',
      })
    } catch (thrown) {
      logger.error({ event: 'onceNotRecorded', tool, reference, ...causeFields(thrown) })
      releaser.scheduleOutcome(place, claim, small, forMs, release)
    }
  }
}

type StartedRecord = Extract<IdempotencyRecord, { readonly state: 'started' }>

/** A key that this process has claimed. `release` ends the lease. */
interface HeldClaim {
  readonly place: Key
  readonly claim: string
  readonly started: StartedRecord
  readonly forMs: number
  readonly release: () => void
}

/** Stores say `storeUnavailable` to the client; what the operator wants to know is why. */
const causeFields = (thrown: unknown): Bug | undefined =>
  bugOf(thrown instanceof RpcError ? (thrown.cause ?? new Error(thrown.message)) : thrown)

/** The cause is for the first caller's log line, and may not be JSON. */
const failedRecord = (bound: KeyBinding, { cause: _, ...failure }: RunFailure): IdempotencyRecord => ({
  state: 'done',
  ...bound,
  failure,
})

const withoutBody = ({ tool, fingerprint }: KeyBinding): IdempotencyRecord => ({ state: 'done', tool, fingerprint })

const stopFailure = ({ stop }: Call): RunFailure => stop.reason ?? cancelledWhileRunning

function toAnswer(call: Call, settled: RunOutcome): Answer {
  if ('answer' in settled) return settled.answer
  const { reason, message, data, reference, cause } = settled
  if (reference !== undefined) call.facts.reference = reference
  throw new RpcError(reason, message, { data, cause })
}
