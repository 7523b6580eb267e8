/**
 * The record that the store holds under an idempotency key, from the claim to the answer, and the outcome of a repeated
 * call.
 *
 * The idempotency layer writes it. Approvals read it, because the claim spends their tickets.
 */

import type { Result } from './answer.ts'
import type { Call } from './call.ts'
import type { Reason } from './error.ts'
import { RpcError } from './error.ts'
import type { Params } from './json.ts'
import { isObject } from './json.ts'
import { isProcessAlive } from './process-lease.ts'
import type { Key, Store } from './store.ts'

/** Tickets and clients' keys are separate, so that a client that names a ticket's id does not find its record. */
export type IdempotencyKeyName = { readonly client: string } | { readonly ticket: string }

export const recordKey = (tenant: string, subject: string, name: IdempotencyKeyName): Key =>
  'client' in name ? ['once', tenant, subject, 'client', name.client] : ['once', tenant, subject, 'ticket', name.ticket]

/** The call that a used key is bound to. */
export interface KeyBinding {
  readonly tool: string
  /** Digest of the arguments as received and the person's answers. */
  readonly fingerprint: string
}
/**
 * The outcome of the work, for every caller that asks. Each caller gets a new error, so that no two share an instance.
 */
export type RunOutcome = { readonly answer: Result } | RunFailure
export interface RunFailure {
  readonly reason: Reason
  readonly message: string
  readonly data: Params
  /** The error id under which the first caller's log line is found. */
  readonly reference?: string
  readonly cause?: unknown
}

export type IdempotencyRecord =
  /** A lease of `process`. Once that process has ended, it is unknown whether the call had its effect. */
  | ({ readonly state: 'started'; readonly process: string; readonly reference: string } & KeyBinding)
  /** Without answer and failure, the call ran but its result was not stored. */
  | ({ readonly state: 'done'; readonly answer?: Result; readonly failure?: RunFailure } & KeyBinding)
  /** Claimed, and released before anything ran. */
  | { readonly state: 'free' }

export const recordToText = (record: IdempotencyRecord): string => JSON.stringify(record)

/** Parses a record. Throws if it is malformed, because an unreadable record must not count as none. */
export function parseIdempotencyRecord(text: string): IdempotencyRecord {
  const record: unknown = JSON.parse(text)
  if (!isObject(record) || !['started', 'done', 'free'].includes(String(record['state'])))
    throw new TypeError('An idempotency record in the store cannot be read')
  return record as IdempotencyRecord
}

/** Returns whether the process that claimed the key is alive, and with it the call. `store` also holds the record. */
export const isStillRunning = async (store: Store, record: IdempotencyRecord): Promise<boolean> =>
  record.state === 'started' && isProcessAlive(store, record.process)

/** Returns the outcome of a call with the same key. `isRunning` tells whether the process of a started call is alive. */
export function outcomeOfRecord(
  record: Exclude<IdempotencyRecord, { state: 'free' }>,
  bound: KeyBinding,
  isRunning: boolean,
): RunOutcome {
  if (!isSameCall(record, bound)) return keyReused
  if (record.state === 'started') return isRunning ? inFlight : inDoubt
  if (record.answer) return { answer: record.answer }
  if (!record.failure) return resultNotStored
  // The log has the thrown error only where the call ran.
  return {
    ...record.failure,
    cause: new Error('Repeated from the record: see the first log line with this reference for the cause'),
  }
}

/** Answers a call with an outcome, whether it ran just now or before. The log line gets the error id of the first one. */
export function replay({ facts }: Call, outcome: RunOutcome): Result {
  if ('answer' in outcome) return outcome.answer
  const { reason, message, data, reference, cause } = outcome
  if (reference !== undefined) facts.reference = reference
  throw new RpcError(reason, message, { data, cause })
}

export const isSameCall = (one: KeyBinding, other: KeyBinding): boolean =>
  one.tool === other.tool && one.fingerprint === other.fingerprint

export const keyReused: RunFailure = {
  reason: 'conflict',
  message: 'This idempotency key was used for another tool or other arguments: use a new key',
  data: { state: 'other arguments' },
}
const inDoubt: RunFailure = {
  reason: 'conflict',
  message:
    'The call under this idempotency key was interrupted: whether it had its effect is unknown, and it does not run again',
  data: { state: 'in doubt' },
}
const resultNotStored: RunFailure = {
  reason: 'conflict',
  message: 'The call under this idempotency key ran, but its result was not stored',
  data: { state: 'done' },
}
const inFlight: RunFailure = {
  reason: 'conflict',
  message: 'The call under this idempotency key is still running',
  data: { state: 'in flight', retryAfterMs: 1000 },
}
/**
 * The client cancelled this call while it ran. A later caller did not cancel, so it must not get "cancelled" as its
 * answer.
 */
export const cancelledWhileRunning: RunFailure = {
  reason: 'conflict',
  message: 'The call under this idempotency key was cancelled while it ran: whether it had its effect is unknown',
  data: { state: 'cancelled' },
}

export interface InDoubtCall {
  readonly tenant: string
  readonly subject: string
  readonly name: IdempotencyKeyName
  readonly keepMs?: number
}

/**
 * Records what an operator found out about an interrupted call. With `ran`, repeated calls get that outcome and nothing
 * runs again. With `did not run`, the next call with this key runs. A call whose process is alive is not changed.
 */
export async function resolveInDoubt(
  store: Store,
  { tenant, subject, name, keepMs = dayMs }: InDoubtCall,
  verdict: 'ran' | 'did not run',
): Promise<'resolved' | 'in flight' | 'not in doubt'> {
  const key = recordKey(tenant, subject, name)
  const text = await store.get(key)
  const record = text === undefined ? undefined : parseIdempotencyRecord(text)
  if (record?.state !== 'started') return 'not in doubt'
  if (await isStillRunning(store, record)) return 'in flight'
  const { tool, fingerprint } = record
  const resolved: IdempotencyRecord = verdict === 'ran' ? { state: 'done', tool, fingerprint } : { state: 'free' }
  return (await store.swap(key, text, recordToText(resolved), keepMs)) ? 'resolved' : 'not in doubt'
}

export const dayMs: number = 24 * 60 * 60_000
