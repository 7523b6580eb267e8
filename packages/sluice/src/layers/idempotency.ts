/**
 * Runs work under one key once. The key is the client's own or an approval's ticket. The record says "started" before
 * the work and "done" after it. A crash in between leaves "started", which is in doubt and never runs again.
 *
 * The claim is a lease. It names the process that runs the work, and holds as long as that process is alive. A call that
 * outlives its deadline is still running, not in doubt, so nothing lets it run a second time.
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
  replay,
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
  /** Makes the error id that a client and the log share for one failure. A repeated answer has the id of the first. */
  newErrorId(): string
  /**
   * How long a key is remembered. A later repetition runs again; a longer time takes more space in the store. A day by
   * default.
   */
  readonly keepMs?: number
  /**
   * Maximum characters of a record. A larger result is answered once and not stored, otherwise callers could fill the
   * store. 256 Ki by default.
   */
  readonly maxRecord?: number
  /** Passed in by the owner that closes it. */
  readonly releaser?: ClaimReleaser
  /** The lease of this process, closed by the same owner. */
  readonly lease?: ProcessLease
}

interface RunningCall {
  readonly bound: KeyBinding
  /** `undefined` if the first call was stopped before it began. */
  readonly settled: Promise<RunOutcome | undefined>
}

export const idempotencyLayer = (store: Store, options: IdempotencyOptions): Layer => {
  const { clock, logger, newErrorId: reference, keepMs = dayMs, maxRecord = 262_144 } = options
  if (!(keepMs >= 1)) throw new TypeError('idempotency: "keepMs" must be at least 1, otherwise no key is remembered')
  const claimReleaser = options.releaser ?? createClaimReleaser(store, clock, keepMs)
  const lease = options.lease ?? createProcessLease(store, clock)
  const running = new Map<string, RunningCall>()

  return (next) => {
    // Most calls have no key, so they pass without an extra promise.
    return (call) => (call.target.kind === 'tool' && hasIdempotencyKey(call) ? keyed(call) : next(call))

    async function keyed(call: Call): Promise<Answer> {
      const key = recordKeyOf(call)
      const bound: KeyBinding = { tool: call.target.name, fingerprint: digest([call.args, call.answers]) }
      const name = JSON.stringify(key)
      for (let first = running.get(name); first; first = running.get(name)) {
        if (!isSameCall(first.bound, bound)) return replay(call, keyReused)
        const settled = await first.settled
        if (settled) return replay(call, settled)
        // The first call was stopped before it began, so this one may begin.
      }
      const settled = claimAndRun(call, key, bound)
      running.set(name, { bound, settled })
      try {
        return replay(call, (await settled) ?? stopFailure(call))
      } finally {
        running.delete(name)
      }
    }

    async function claimAndRun(call: Call, key: Key, bound: KeyBinding): Promise<RunOutcome | undefined> {
      if (call.stop.reason) return undefined
      // A ticket's claim outlives the ticket, whatever `keepMs` is. If it were forgotten earlier, the ticket could be
      // spent again.
      const ttlMs = call.ticketId === undefined ? keepMs : Math.max(keepMs, dayMs)
      const started: StartedRecord = { state: 'started', process: lease.id, reference: reference(), ...bound }
      const claim = recordToText(started)
      let release = (): void => {}
      try {
        // The lease comes first. The claim of a process that is not known to be alive would be in doubt from the start.
        release = await lease.hold()
        const existing = await claimKey(key, claim, ttlMs)
        if (existing) {
          release()
          const isRunning = await isStillRunning(store, existing)
          const found = isRunning ? existing : await endOf(key, existing)
          call.facts['once'] = found.state
          return outcomeOfRecord(found, bound, isRunning)
        }
      } catch (thrown) {
        release()
        logger.error({ event: 'onceStore', tool: bound.tool, ...causeFields(thrown) })
        claimReleaser.schedule(key, claim)
        return {
          reason: 'storeUnavailable',
          message: 'Nothing was run: the state of this key cannot be read; try again later',
          data: {},
        }
      }
      const write = (to: IdempotencyRecord): Promise<void> => record({ key, claim, started, ttlMs, release }, to)
      if (call.stop.reason) {
        await write({ state: 'free' })
        return undefined
      }
      const settled = await settle(call, started.reference)
      // Nothing ran under the key or the ticket, so it may be used again.
      if (didNotRun(settled)) await write({ state: 'free' })
      else await write('answer' in settled ? { state: 'done', ...bound, ...settled } : failedRecord(bound, settled))
      return settled
    }

    /** Runs the work and returns its outcome as it will be read back, so that a repeated call gets the same bytes. */
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

  /** Returns `undefined` if the key is now ours; otherwise the existing record. */
  async function claimKey(key: Key, claim: string, ttlMs: number): Promise<UsedRecord | undefined> {
    for (let tries = 0, from: string | undefined; tries < 5; tries++) {
      if (await store.swap(key, from, claim, ttlMs)) return undefined
      from = await store.get(key)
      // The claim is ours, by its error id: the store wrote it, lost the response and was asked again.
      if (from === claim) return undefined
      const existing = from === undefined ? undefined : parseIdempotencyRecord(from)
      if (existing && existing.state !== 'free') return existing
    }
    throw new Error('The record of an idempotency key changed five times while it was read')
  }

  /** The process of a started call may have written its end, and ended, after the record was read. */
  async function endOf(key: Key, record: UsedRecord): Promise<UsedRecord> {
    const text = record.state === 'started' ? await store.get(key) : undefined
    const now = text === undefined ? record : parseIdempotencyRecord(text)
    return now.state === 'free' ? record : now
  }

  /** Replaces only our own claim, because an operator may have decided meanwhile. A failed write is repeated later. */
  async function record({ key, claim, started, ttlMs, release }: HeldClaim, to: IdempotencyRecord): Promise<void> {
    const { tool, reference } = started
    const text = recordToText(to)
    const small = text.length <= maxRecord || to.state !== 'done' ? text : recordToText(withoutBody(to))
    try {
      const isWritten = await store.swap(key, claim, small, ttlMs)
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
      claimReleaser.scheduleOutcome(key, claim, small, ttlMs, release)
    }
  }
}

type UsedRecord = Exclude<IdempotencyRecord, { readonly state: 'free' }>
type StartedRecord = Extract<IdempotencyRecord, { readonly state: 'started' }>

/** A key that this process has claimed. `release` ends the lease. */
interface HeldClaim {
  readonly key: Key
  readonly claim: string
  readonly started: StartedRecord
  readonly ttlMs: number
  readonly release: () => void
}

/** Returns the cause for the operator, because stores report only `storeUnavailable` to the client. */
const causeFields = (thrown: unknown): Bug | undefined =>
  bugOf(thrown instanceof RpcError ? (thrown.cause ?? new Error(thrown.message)) : thrown)

/** Drops the cause, which is for the first caller's log line and may not be JSON. */
const failedRecord = (bound: KeyBinding, { cause: _, ...failure }: RunFailure): IdempotencyRecord => ({
  state: 'done',
  ...bound,
  failure,
})

/** Returns whether the work certainly did not begin: its upstream was not reached, or wants a page opened first. */
const didNotRun = (settled: RunOutcome): boolean =>
  'reason' in settled &&
  ((settled.reason === 'upstreamUnavailable' && settled.data['mayHaveRun'] === false) ||
    settled.reason === 'urlRequired')

const withoutBody = ({ tool, fingerprint }: KeyBinding): IdempotencyRecord => ({ state: 'done', tool, fingerprint })

const stopFailure = ({ stop }: Call): RunFailure => stop.reason ?? cancelledWhileRunning
