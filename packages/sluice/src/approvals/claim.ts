/** Reads what became of a spent ticket from the record that the idempotency layer keeps. */

import type { RunOutcome } from '../core/idempotency-record.ts'
import { isStillRunning, outcomeOfRecord, parseIdempotencyRecord, recordKey } from '../core/idempotency-record.ts'
import type { Store } from '../core/store.ts'
import type { Proposal } from './ticket.ts'

export type TicketClaim =
  /** No record exists. The ticket was never spent, or its record has expired. */
  | { readonly state: 'none' }
  /** The claim was released before anything ran, or an operator resolved it as not run. */
  | { readonly state: 'free' }
  | { readonly state: 'started'; readonly inDoubt: boolean; readonly settled: RunOutcome }
  | { readonly state: 'done'; readonly status: 'done' | 'failed' | 'void'; readonly settled: RunOutcome }

/** Returns the claim of a ticket. `serverStore` is the part of the store that belongs to the ticket's server. */
export async function claimOf(
  serverStore: Store,
  { id, tenant, caller }: Pick<Proposal, 'id' | 'tenant' | 'caller'>,
): Promise<TicketClaim> {
  const text = await serverStore.get(recordKey(tenant, caller.subject, { ticket: id }))
  const record = text === undefined ? undefined : parseIdempotencyRecord(text)
  if (!record) return { state: 'none' }
  if (record.state === 'free') return { state: 'free' }
  const isRunning = await isStillRunning(serverStore, record)
  const settled = outcomeOfRecord(record, record, isRunning)
  if (record.state === 'started') return { state: 'started', inDoubt: !isRunning, settled }
  const failed = record.failure !== undefined || record.answer?.isError === true
  const status = record.failure?.reason === 'approvalVoid' ? 'void' : failed ? 'failed' : 'done'
  return { state: 'done', status, settled }
}
