/**
 * Work under one key runs once. The key is the client's own or an approval's ticket; the record says started before the
 * work and done after it, so a crash in between leaves "started": in doubt, and never run again.
 */

import type { Answer, Result } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { digest } from '../core/digest.ts'
import type { Bug } from '../core/error.ts'
import { bugOf, RpcError } from '../core/error.ts'
import type { Logger } from '../core/log.ts'
import type { Bound, Failure, Kept, Settled } from '../core/once-record.ts'
import { dayMs, fromText, givenUp, isSame, otherCall, settledBy, toText } from '../core/once-record.ts'
import type { Key, Store } from '../core/store.ts'
import type { GiveBack } from './once-give-back.ts'
import { createGiveBack } from './once-give-back.ts'
import { hasKey, placeOf } from './once-key.ts'

export interface OnceOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** The name a client and the log share for one failure; a repeated answer names the first. */
  reference(): string
  /** How long a key is remembered. Repeated later, the work runs again; longer costs room in the store. A day. */
  readonly keepMs?: number
  /** Characters of a record; a larger result is answered once and not kept, or callers could fill the store. 256 Ki. */
  readonly maxRecord?: number
  /** Handed in by whoever closes it. */
  readonly giveBack?: GiveBack
}

interface Running {
  readonly bound: Bound
  /** Nothing: whoever came first left before it began. */
  readonly settled: Promise<Settled | undefined>
}

export const once = (store: Store, options: OnceOptions): Layer => {
  const { clock, logger, reference, keepMs = dayMs, maxRecord = 262_144 } = options
  const giveBack = options.giveBack ?? createGiveBack(store, clock, keepMs)
  const running = new Map<string, Running>()

  return (next) => {
    // Most calls bring no key, and pass without a promise of this layer's own.
    return (call) => (call.target.kind === 'tool' && hasKey(call) ? keyed(call) : next(call))

    async function keyed(call: Call): Promise<Answer> {
      const place = placeOf(call)
      const bound: Bound = { tool: call.target.name, fingerprint: digest([call.args, call.given]) }
      const name = JSON.stringify(place)
      for (let first = running.get(name); first; first = running.get(name)) {
        if (!isSame(first.bound, bound)) return give(call, otherCall)
        const settled = await first.settled
        if (settled) return give(call, settled)
        // Whoever came first left before it began: this one may.
      }
      const settled = claimAndRun(call, place, bound)
      running.set(name, { bound, settled })
      try {
        return give(call, (await settled) ?? left(call))
      } finally {
        running.delete(name)
      }
    }

    async function claimAndRun(call: Call, place: Key, bound: Bound): Promise<Settled | undefined> {
      if (call.stop.reason) return undefined
      // A ticket's claim outlives the ticket, whatever is said about keys: forgotten earlier, it could be spent again.
      const forMs = call.key === undefined ? keepMs : Math.max(keepMs, dayMs)
      const until = clock.now() + Math.min(call.target.policy.timeoutMs, forMs)
      const started: Kept = { state: 'started', until, reference: reference(), ...bound }
      const claim = toText(started)
      try {
        const kept = await claimed(place, claim, forMs)
        if (kept) {
          call.facts['once'] = kept.state
          return settledBy(kept, bound, clock.now())
        }
      } catch (thrown) {
        logger.error({ event: 'onceStore', tool: bound.tool, ...behind(thrown) })
        giveBack.later(place, claim)
        return {
          reason: 'storeUnavailable',
          message: 'Nothing was run: the state of this key cannot be read',
          data: {},
        }
      }
      const write = (to: Kept): Promise<void> => record(place, claim, to, started, forMs)
      if (call.stop.reason) {
        await write({ state: 'free' })
        return undefined
      }
      const settled = await settle(call, started.reference)
      await write('answer' in settled ? { state: 'done', ...bound, ...settled } : failed(bound, settled))
      return settled
    }

    /** What came out, as it will be read back: who repeats the call gets the same bytes. */
    async function settle(call: Call, reference: string): Promise<Settled> {
      try {
        const answer = await next(call)
        if (answer instanceof Prepared) throw new TypeError('A tool does not answer with a list')
        return { answer: complete(JSON.parse(JSON.stringify(answer)) as Result) }
      } catch (thrown) {
        if (!(thrown instanceof RpcError)) {
          const message = `Tool execution failed: ${call.target.name}`
          return { reason: 'toolCrashed', message, data: {}, reference, cause: thrown }
        }
        const { reason, message, data, cause } = thrown
        return reason === 'cancelled' ? givenUp : { reason, message, data, reference, cause }
      }
    }
  }

  /** Nothing: the place is ours. Otherwise what stands there. */
  async function claimed(
    place: Key,
    claim: string,
    forMs: number,
  ): Promise<Exclude<Kept, { state: 'free' }> | undefined> {
    for (let tries = 0, from: string | undefined; tries < 5; tries++) {
      if (await store.swap(place, from, claim, forMs)) return undefined
      from = await store.get(place)
      // Our own, by its reference: the store wrote it, lost the answer and was asked again.
      if (from === claim) return undefined
      const kept = from === undefined ? undefined : fromText(from)
      if (kept && kept.state !== 'free') return kept
    }
    throw new Error('The record of a key changed five times while it was read')
  }

  /** Only over our own claim: an operator may have decided meanwhile. What fails here stays in doubt; the caller is answered. */
  async function record(
    place: Key,
    claim: string,
    to: Kept,
    { tool, reference }: Bound & { reference: string },
    forMs: number,
  ): Promise<void> {
    try {
      const text = toText(to)
      const small = text.length <= maxRecord || to.state !== 'done' ? text : toText(withoutBody(to))
      if (await store.swap(place, claim, small, forMs)) return
      logger.warn({
        event: 'onceNotRecorded',
        tool,
        reference,
        message: 'the record is no longer the one this call made',
      })
    } catch (thrown) {
      logger.error({ event: 'onceNotRecorded', tool, reference, ...behind(thrown) })
    }
  }
}

/** Only `ask` asks, before anything runs: a question that work passes on from elsewhere would make it run once more. */
const complete = (answer: Result): Result =>
  answer.resultType === undefined ? answer : { ...answer, resultType: 'complete' }

/** Stores say `storeUnavailable` to the client; what the operator wants to know is why. */
const behind = (thrown: unknown): Bug | undefined =>
  bugOf(thrown instanceof RpcError ? (thrown.cause ?? new Error(thrown.message)) : thrown)

/** The cause is for the first caller's log line, and may not be JSON. */
const failed = (bound: Bound, { cause: _, ...failure }: Failure): Kept => ({ state: 'done', ...bound, failure })

const withoutBody = ({ tool, fingerprint }: Bound): Kept => ({ state: 'done', tool, fingerprint })

const left = ({ stop }: Call): Failure => stop.reason ?? givenUp

function give(call: Call, settled: Settled): Answer {
  if ('answer' in settled) return settled.answer
  const { reason, message, data, reference, cause } = settled
  if (reference !== undefined) call.facts.reference = reference
  throw new RpcError(reason, message, { data, cause })
}
