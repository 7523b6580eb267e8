/** The decision: one atomic step of a ticket, by somebody who may. */

import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Decider } from './deciding.ts'
import { checkDecider, invalidTicket } from './deciding.ts'
import type { Live, Shelf, Times } from './shelf.ts'
import type { Decision, Proposal, State, TicketStatus } from './ticket.ts'

export interface DecideAround {
  readonly shelf: Shelf
  readonly clock: Clock
  readonly times: Times
  readonly record: (tenant: string, kind: string, fields: Params) => void
  readonly changed: (id: string, status: TicketStatus) => void
}

const maxNote = 1000

export type Decide = (
  id: string,
  decision: { readonly approved: boolean; readonly note?: string },
  by: Decider,
) => Promise<Proposal>

export function createDecide({ shelf, clock, times, record, changed }: DecideAround): Decide {
  return async function decide(id, { approved, note }, by) {
    const proposal = await shelf.proposal(id)
    if (!proposal) throw invalidTicket()
    const { tenant, digest, needed } = proposal
    const said = { ticket: id, by: by.subject, via: by.via, approved, digest }
    try {
      checkDecider(proposal, by)
    } catch (thrown) {
      record(tenant, 'decisionRefused', { ...said, reason: thrown instanceof RpcError ? thrown.reason : '' })
      throw thrown
    }
    const decision: Decision = {
      by: by.subject,
      via: by.via,
      at: clock.now(),
      approved,
      ...(note !== undefined && note !== '' && { note: note.toWellFormed().slice(0, maxNote).toWellFormed() }),
    }
    for (;;) {
      const live = await shelf.live(id)
      if (!live) throw invalidTicket()
      if (live.state.status !== 'pending') {
        refuseOther(live.state, decision)
        return proposal
      }
      const decisions = await collect(proposal, decision)
      const enough = !approved || decisions.length >= needed
      if (enough && !(await settle(proposal, live, approved, decisions))) continue
      record(tenant, 'decided', { ...said, decisions: decisions.length, needed })
      changed(id, enough ? (approved ? 'approved' : 'denied') : 'pending')
      return proposal
    }
  }

  /** Where several are needed each is kept by itself, one for each person, and nobody's time begins anew. */
  async function collect({ id, needed }: Proposal, decision: Decision): Promise<readonly Decision[]> {
    if (needed === 1) return [decision]
    if (!decision.approved) return [...(await shelf.votes(id)), decision]
    return shelf.vote(id, decision)
  }

  /** False: somebody else was quicker. */
  async function settle(
    proposal: Proposal,
    live: Live,
    approved: boolean,
    decisions: State['decisions'],
  ): Promise<boolean> {
    const { id } = proposal
    if (approved) await shelf.open(id)
    const to: State = { status: approved ? 'approved' : 'denied', decisions }
    if (!(await shelf.move(id, live, to, approved ? times.runMs : times.decideMs))) return false
    await Promise.all([shelf.settle(proposal), approved && shelf.approved(proposal)])
    return true
  }
}

/** Said again because the acknowledgement was lost, it is the same decision. */
function refuseOther({ status, decisions }: State, { by, approved }: Decision): void {
  if (decisions.some((made) => made.by === by && made.approved === approved)) return
  throw new RpcError('conflict', `This was decided before: it is ${status}`, { data: { state: status } })
}
