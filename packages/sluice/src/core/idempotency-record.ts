/**
 * What the store holds under a key, from the claim to the answer, and what a repeated call is told about it. Shared by
 * `once`, which writes it, and by approvals, whose tickets are spent by the claim.
 */

import type { Result } from './answer.ts'
import type { Reason } from './error.ts'
import type { Params } from './json.ts'
import { isObject } from './json.ts'
import { isProcessAlive } from './process-lease.ts'
import type { Key, Store } from './store.ts'

/** Tickets and clients' keys lie apart: a client that names a ticket's id must not meet its record. */
export type IdempotencyKeyName = { readonly client: string } | { readonly ticket: string }

export const recordKey = (tenant: string, subject: string, name: IdempotencyKeyName): Key =>
  'client' in name ? ['once', tenant, subject, 'client', name.client] : ['once', tenant, subject, 'ticket', name.ticket]

/** What a key is bound to once it was used. */
export interface KeyBinding {
  readonly tool: string
  /** Of the arguments as received and the person's answers. */
  readonly fingerprint: string
}
/** How the work ended, for everybody who asks: an error is made anew for each, so that nobody shares an instance. */
export type RunOutcome = { readonly answer: Result } | RunFailure
export interface RunFailure {
  readonly reason: Reason
  readonly message: string
  readonly data: Params
  /** Under which the first caller's log line is found. */
  readonly reference?: string
  readonly cause?: unknown
}

export type IdempotencyRecord =
  /** A lease of `process`: once that process is gone, it is unknown whether the work had its effect. */
  | ({ readonly state: 'started'; readonly process: string; readonly reference: string } & KeyBinding)
  /** Neither answer nor failure: it ran, and what came out was not kept. */
  | ({ readonly state: 'done'; readonly answer?: Result; readonly failure?: RunFailure } & KeyBinding)
  /** Claimed and given back before anything ran. */
  | { readonly state: 'free' }

export const recordToText = (kept: IdempotencyRecord): string => JSON.stringify(kept)

/** Throws on what is not ours: a record that cannot be read must not count as none. */
export function parseIdempotencyRecord(text: string): IdempotencyRecord {
  const kept: unknown = JSON.parse(text)
  if (!isObject(kept) || !['started', 'done', 'free'].includes(String(kept['state'])))
    throw new TypeError('A record of once cannot be read')
  return kept as IdempotencyRecord
}

/** Whether the process that claimed the key is alive, and with it the call. `store` holds the record, too. */
export const isStillRunning = async (store: Store, kept: IdempotencyRecord): Promise<boolean> =>
  kept.state === 'started' && isProcessAlive(store, kept.process)

/** What a call with the same key is told. `isRunning` tells whether the process of a started call is alive. */
export function outcomeOfRecord(
  kept: Exclude<IdempotencyRecord, { state: 'free' }>,
  bound: KeyBinding,
  isRunning: boolean,
): RunOutcome {
  if (!isSameCall(kept, bound)) return keyReused
  if (kept.state === 'started') return isRunning ? inFlight : inDoubt
  if (kept.answer) return { answer: kept.answer }
  if (!kept.failure) return resultNotStored
  // Only where it ran did the log see what was thrown.
  return {
    ...kept.failure,
    cause: new Error('Repeated from the record: the first line with this reference has the cause'),
  }
}

export const isSameCall = (one: KeyBinding, other: KeyBinding): boolean =>
  one.tool === other.tool && one.fingerprint === other.fingerprint

export const keyReused: RunFailure = {
  reason: 'conflict',
  message: 'This idempotency key was used for another tool or other arguments',
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
  message: 'The call under this idempotency key ran, but its result was not kept',
  data: { state: 'done' },
}
const inFlight: RunFailure = {
  reason: 'conflict',
  message: 'The call under this idempotency key is still running',
  data: { state: 'in flight', retryAfterMs: 1000 },
}
/** Its client gave up while it ran; who asks again did not, and must not be answered as if it had. */
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
 * An operator found out what became of an interrupted call. `ran`: repeated calls learn so, and nothing runs again;
 * `did not run`: the next call with this key does. A call whose process is alive is left alone.
 */
export async function resolveInDoubt(
  store: Store,
  { tenant, subject, name, keepMs = dayMs }: InDoubtCall,
  verdict: 'ran' | 'did not run',
): Promise<'resolved' | 'in flight' | 'not in doubt'> {
  const place = recordKey(tenant, subject, name)
  const text = await store.get(place)
  const kept = text === undefined ? undefined : parseIdempotencyRecord(text)
  if (kept?.state !== 'started') return 'not in doubt'
  if (await isStillRunning(store, kept)) return 'in flight'
  const { tool, fingerprint } = kept
  const to: IdempotencyRecord = verdict === 'ran' ? { state: 'done', tool, fingerprint } : { state: 'free' }
  return (await store.swap(place, text, recordToText(to), keepMs)) ? 'resolved' : 'not in doubt'
}

export const dayMs: number = 24 * 60 * 60_000
