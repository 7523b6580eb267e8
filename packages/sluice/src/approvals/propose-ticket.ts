/** Makes the ticket of a call that needs an approval, and announces it to people. */

import { RpcError } from '../core/error.ts'
import type { TicketDraft } from './binding.ts'
import type { TicketRunnerDeps } from './run-ticket.ts'
import type { Proposal } from './ticket.ts'

interface ProposeOptions {
  /** The ticket of the same call that the new one replaces. */
  readonly replaces: string | undefined
  /** The task that waits for the decision. */
  readonly task: string | undefined
}

/** Resolves with `undefined` if another process made a ticket of the same call meanwhile. */
export async function proposeTicket(
  { engine, record }: Pick<TicketRunnerDeps, 'engine' | 'record'>,
  draft: TicketDraft,
  { replaces, task }: ProposeOptions,
): Promise<Proposal | undefined> {
  const { ticketStore, time } = engine
  const id = crypto.randomUUID()
  const { tenant, caller } = draft
  const slot = await ticketStore.takeSlot(tenant, caller.subject, id, engine.maxPending)
  if (slot === undefined)
    throw new RpcError(
      'rateLimited',
      `Too many calls wait for an approval: at most ${engine.maxPending} per caller. Wait until some are decided`,
      { data: { retryAfterMs: 60_000 } },
    )
  const [previous, { at, epoch }] = await Promise.all([ticketStore.lastApproved(draft), time.now()])
  const proposal: Proposal = {
    ...draft,
    id,
    slot,
    ...(task !== undefined && { task }),
    createdAt: at,
    expiresAt: at + engine.times.decideMs,
    epoch,
    ...(previous !== undefined && { previous }),
  }
  if (!(await ticketStore.add(proposal, replaces))) return undefined
  time.advanceAfter(proposal.expiresAt + engine.times.runMs)
  const { tool, digest, definition } = draft
  record(tenant, 'proposed', { ticket: id, tool, caller: caller.subject, digest, definition })
  await engine.announce(proposal)
  engine.notifyChange(id, 'pending')
  return proposal
}
