/** The decision: one atomic step of a ticket, by somebody who may. */

import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Decider } from './deciding.ts'
import { checkDecider, invalidTicket } from './deciding.ts'
import type { Shelf, Times } from './shelf.ts'
import type { Decision, Proposal, State, TicketStatus } from './ticket.ts'
import type { ApprovalTime } from './time.ts'

export interface DecideAround {
  readonly shelf: Shelf
  readonly time: ApprovalTime
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

export function createDecide({ shelf, time, times, record, changed }: DecideAround): Decide {
  return async function decide(id, { approved, note }, by) {
    const proposal = await shelf.proposal(id)
    if (!proposal) throw invalidTicket()
    const { tenant, digest, needed } = proposal
    const said = { ticket: id, by: by.subject, via: by.via, approved, digest }
    try {
      checkDecider(approved ? 'approve' : 'deny', proposal, by)
    } catch (thrown) {
      record(tenant, 'decisionRefused', { ...said, reason: thrown instanceof RpcError ? thrown.reason : '' })
      throw thrown
    }
    for (;;) {
      const live = await shelf.live(id)
      const { at, epoch } = await (approved ? time.now() : time.advance())
      if (!live || proposal.epoch !== epoch || live.state.until <= at) throw invalidTicket()
      const { state } = live
      const decision: Decision = { by: by.subject, via: by.via, at, approved, ...(note && { note: shortened(note) }) }
      const withdrawn = state.status === 'approved' && !approved && isCallerOf(proposal, by)
      if (state.status !== 'pending' && !withdrawn) {
        refuseOther(state, decision)
        return proposal
      }
      // Left over by a process that died while it added the ticket: no call would ever find it.
      if ((await shelf.find(proposal)) !== id) throw invalidTicket()
      // Each person counts once.
      if (approved && state.decisions.some((made) => made.by === by.subject)) return proposal
      const to = after(state, decision, needed, at)
      if (!(await shelf.move(id, live, to))) continue
      if (to.status !== 'pending') await shelf.settle(proposal)
      if (to.status === 'approved') await shelf.approved(proposal)
      record(tenant, 'decided', { ...said, decisions: to.decisions.length, needed })
      changed(id, to.status)
      return proposal
    }
  }

  function after({ decisions, until }: State, decision: Decision, needed: number, at: number): State {
    const all = [...decisions, decision]
    if (!decision.approved) return { status: 'denied', decisions: all, until: at + times.decideMs }
    // A part of the votes gives the ticket no more time.
    if (all.length < needed) return { status: 'pending', decisions: all, until }
    return { status: 'approved', decisions: all, until: at + times.runMs }
  }
}

/** The caller itself no longer wants what it asked for. */
const isCallerOf = ({ caller }: Proposal, { via, subject }: Decider): boolean =>
  via === 'protocol' && subject === caller.subject

const shortened = (note: string): string => note.toWellFormed().slice(0, maxNote).toWellFormed()

/** Said again because the acknowledgement was lost, it is the same decision. */
function refuseOther({ status, decisions }: State, { by, approved }: Decision): void {
  if (decisions.some((made) => made.by === by && made.approved === approved)) return
  throw new RpcError('conflict', `This was decided before: it is ${status}`, { data: { state: status } })
}
