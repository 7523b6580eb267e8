/** What became of a ticket that was spent: `once` keeps the record, and here it is read. */

import type { RunOutcome } from '../core/idempotency-record.ts'
import { isStillRunning, outcomeOfRecord, parseIdempotencyRecord, recordKey } from '../core/idempotency-record.ts'
import type { Store } from '../core/store.ts'
import type { Proposal } from './ticket.ts'

export type TicketClaim =
  /** There is no record: nobody spent it, or the record's time is up. */
  | { readonly state: 'none' }
  /** It was given back, and nothing ran under it; or an operator found that nothing did. */
  | { readonly state: 'free' }
  | { readonly state: 'started'; readonly inDoubt: boolean; readonly settled: RunOutcome }
  | { readonly state: 'done'; readonly status: 'done' | 'failed' | 'void'; readonly settled: RunOutcome }

/** `own` is the part of the store that belongs to the ticket's server. */
export async function claimOf(
  own: Store,
  { id, tenant, caller }: Pick<Proposal, 'id' | 'tenant' | 'caller'>,
): Promise<TicketClaim> {
  const text = await own.get(recordKey(tenant, caller.subject, { ticket: id }))
  const kept = text === undefined ? undefined : parseIdempotencyRecord(text)
  if (!kept) return { state: 'none' }
  if (kept.state === 'free') return { state: 'free' }
  const isRunning = await isStillRunning(own, kept)
  const settled = outcomeOfRecord(kept, kept, isRunning)
  if (kept.state === 'started') return { state: 'started', inDoubt: !isRunning, settled }
  const failed = kept.failure !== undefined || kept.answer?.isError === true
  const status = kept.failure?.reason === 'approvalVoid' ? 'void' : failed ? 'failed' : 'done'
  return { state: 'done', status, settled }
}
