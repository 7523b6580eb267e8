/** Who may decide what, checked at the moment of the decision, and the decision itself: one atomic step of a ticket. */

import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Decision, DecisionChannel, Proposal, TicketState, TicketStatus } from './ticket.ts'
import type { TicketStore, TicketTimes } from './ticket-store.ts'
import type { ApprovalTime } from './time.ts'

export interface DecideDeps {
  readonly ticketStore: TicketStore
  readonly time: ApprovalTime
  readonly times: TicketTimes
  readonly record: (tenant: string, kind: string, fields: Params) => void
  readonly notifyChange: (id: string, status: TicketStatus) => void
}

const maxNote = 1000

export type Decide = (
  id: string,
  decision: { readonly approved: boolean; readonly note?: string },
  by: Decider,
) => Promise<Proposal>

export function createDecide({ ticketStore, time, times, record, notifyChange }: DecideDeps): Decide {
  return async function decide(id, { approved, note }, by) {
    const proposal = await ticketStore.readProposal(id)
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
      const live = await ticketStore.readState(id)
      const { at, epoch } = await (approved ? time.now() : time.advance())
      if (!live || proposal.epoch !== epoch || live.state.until <= at) throw invalidTicket()
      const { state } = live
      const decision: Decision = { by: by.subject, via: by.via, at, approved, ...(note && { note: shortenNote(note) }) }
      const withdrawn = state.status === 'approved' && !approved && isCallerOf(proposal, by)
      if (state.status !== 'pending' && !withdrawn) {
        refuseOtherDecision(state, decision)
        return proposal
      }
      // Left over by a process that died while it added the ticket: no call would ever find it.
      if ((await ticketStore.findByBinding(proposal)) !== id) throw invalidTicket()
      // Each person counts once.
      if (approved && state.decisions.some((made) => made.by === by.subject)) return proposal
      const to = after(state, decision, needed, at)
      if (!(await ticketStore.transition(id, live, to))) continue
      if (to.status !== 'pending') await ticketStore.removeFromPending(proposal)
      if (to.status === 'approved') await ticketStore.setLastApproved(proposal)
      record(tenant, 'decided', { ...said, decisions: to.decisions.length, needed })
      notifyChange(id, to.status)
      return proposal
    }
  }

  function after({ decisions, until }: TicketState, decision: Decision, needed: number, at: number): TicketState {
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

const shortenNote = (note: string): string => note.toWellFormed().slice(0, maxNote).toWellFormed()

/** Said again because the acknowledgement was lost, it is the same decision. */
function refuseOtherDecision({ status, decisions }: TicketState, { by, approved }: Decision): void {
  if (decisions.some((made) => made.by === by && made.approved === approved)) return
  throw new RpcError('conflict', `This was decided before: it is ${status}`, { data: { state: status } })
}

/**
 * A person who decides, as whoever let them in knows them now: the console from its session, the command from the account
 * it runs under, the webhook from its signature. Never made from a call, except by `approval/respond`.
 */
export interface Decider {
  readonly subject: string
  readonly via: DecisionChannel
  /** Whose tickets there are for this person at all. */
  readonly tenants: 'all' | readonly string[]
  /** Holds the right `approvals:decide`: may decide for others. Without it, only where `approver` is `owner`, and only their own. */
  readonly operator: boolean
  /** The credential that speaks, where a call brought the decision: the ticket's own never decides. */
  readonly credential?: string
}

/** What people do with tickets and grants. */
export type TicketAction =
  | 'approve'
  | 'deny'
  /** Allows calls like this one for a while. */
  | 'grant'
  /** Says what became of a ticket in doubt, which may let it run again. */
  | 'resolve'
  /** Takes a grant back. */
  | 'revoke'

/** What a ticket, or a grant made from it, says about the people who decide. */
export type Decidable = Pick<Proposal, 'tenant' | 'approver' | 'of'> & {
  readonly caller: Pick<Proposal['caller'], 'subject' | 'credential'>
}

/** One text for unknown, foreign, changed and expired: which it was is nobody's business. */
export const invalidTicket = (): RpcError =>
  new RpcError(
    'approvalInvalid',
    'There is no such approval, or it has expired, or it is not for this call: invoke the tool again to ask for a new one',
  )

const forbidden = (why: string): RpcError => new RpcError('forbidden', why)

/** To somebody of another tenant it is as if there were no such ticket. */
const maySee = ({ tenant }: Pick<Proposal, 'tenant'>, { tenants }: Decider): boolean =>
  tenants === 'all' || tenants.includes(tenant)

/** Throws unless `by` may do this. `approver`, `of` and the tenant bind every action that can make a call run. */
export function checkDecider(action: TicketAction, subject: Decidable, by: Decider): void {
  const { approver, caller, of } = subject
  if (!maySee(subject, by)) throw invalidTicket()
  const isOwner = by.subject === caller.subject
  if (by.via === 'protocol') {
    checkProtocolDecider(action, subject, by, isOwner)
    return
  }
  // Taking a permission back lets nothing run: the person it is about and every operator may.
  if (action === 'revoke') {
    if (!by.operator && !isOwner) throw forbidden('This is not yours to revoke')
    return
  }
  if (approver === 'other' && isOwner) throw forbidden('Somebody else has to decide this: you asked for it')
  const ownAnswer = (action === 'approve' || action === 'deny') && approver === 'owner' && isOwner
  if (!by.operator && !ownAnswer) throw forbidden('This needs the right approvals:decide')
  checkNamedApprovers(of, by)
}

/** A call brought the decision, so an agent may be behind it. */
function checkProtocolDecider(
  action: TicketAction,
  { approver, caller, of }: Decidable,
  by: Decider,
  isOwner: boolean,
): void {
  if (action !== 'approve' && action !== 'deny')
    throw forbidden('This is not done through the protocol: use the console or the command')
  // Its own request a caller may withdraw.
  if (action === 'deny' && isOwner) return
  if (approver === 'client') {
    // Advisory: the client that asked asks its own human, and nobody else's client may.
    if (!isOwner) throw invalidTicket()
  } else {
    if (isOwner || by.credential === caller.credential)
      throw forbidden('Whoever asked for this cannot decide it through the protocol: use the console')
    if (!by.operator) throw forbidden('This needs the scope approvals:decide')
  }
  checkNamedApprovers(of, by)
}

function checkNamedApprovers(of: Decidable['of'], by: Decider): void {
  if (of && !of.includes(by.subject)) throw forbidden('Only the people named in the rule may decide this')
}

/** For the buttons of a page. What counts is what `checkDecider` says when the button is pressed. */
export function mayDecide(action: TicketAction, subject: Decidable, by: Decider): boolean {
  try {
    checkDecider(action, subject, by)
    return true
  } catch {
    return false
  }
}
