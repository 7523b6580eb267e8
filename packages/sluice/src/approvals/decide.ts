/**
 * Ends the wait of a ticket in one atomic step: a person decides it, its caller withdraws it, or it becomes void.
 * Permissions are checked at that moment, not when the page was opened.
 */

import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Decision, DecisionChannel, Proposal, TicketState, TicketStatus, TicketView } from './ticket.ts'
import type { TicketStore, TicketTimes, VersionedState } from './ticket-store.ts'
import type { ApprovalTime } from './time.ts'

export interface DecideDeps {
  readonly ticketStore: TicketStore
  readonly time: ApprovalTime
  readonly times: TicketTimes
  readonly record: (tenant: string, kind: string, fields: Params) => void
  readonly notifyChange: (id: string, status: TicketStatus) => void
}

const maxNote = 1000

export interface TicketEnds {
  /** `takeBack` takes back the person's own approval, with `approved: false`. */
  decide(
    id: string,
    decision: { readonly approved: boolean; readonly note?: string; readonly takeBack?: boolean },
    by: Decider,
  ): Promise<Proposal>
  /** Voids a ticket whose subject changed, or that `by` withdraws. Returns false if its state is no longer `from`. */
  voidTicket(proposal: Proposal, from: VersionedState, by?: Decider): Promise<boolean>
  /** Voids the caller's own ticket, so that the same call asks for a new one. Throws if it is spent or decided otherwise. */
  withdraw(id: string, by: Decider): Promise<void>
}

export function createTicketEnds({ ticketStore, time, times, record, notifyChange }: DecideDeps): TicketEnds {
  return { decide, voidTicket, withdraw }

  async function voidTicket(proposal: Proposal, from: VersionedState, by?: Decider): Promise<boolean> {
    const { id, tenant, digest } = proposal
    await time.advance()
    const to: TicketState = { ...from.state, status: 'void', ...(by && { withdrawn: true }) }
    if (!(await ticketStore.transition(id, from, to))) return false
    await ticketStore.removeFromPending(proposal)
    if (by) record(tenant, 'withdrawn', { ticket: id, by: by.subject, via: by.via, digest })
    else record(tenant, 'void', { ticket: id, digest })
    notifyChange(id, 'void')
    return true
  }

  async function withdraw(id: string, by: Decider): Promise<void> {
    const proposal = await ticketStore.readProposal(id)
    if (!proposal || !isCallerOf(proposal, by) || !maySee(proposal, by)) throw invalidTicket()
    for (;;) {
      const live = await ticketStore.readState(id)
      const { at, epoch } = await time.now()
      if (!live || proposal.epoch !== epoch || live.state.until <= at) throw invalidTicket()
      const { status } = live.state
      if (status !== 'pending' && status !== 'approved')
        throw new RpcError('conflict', `This ticket is ${status}`, { data: { state: status } })
      if (await voidTicket(proposal, live, by)) return
    }
  }

  async function decide(
    id: string,
    { approved, note, takeBack = false }: Parameters<TicketEnds['decide']>[1],
    by: Decider,
  ): Promise<Proposal> {
    const proposal = await ticketStore.readProposal(id)
    if (!proposal) throw invalidTicket()
    const { tenant, digest, needed } = proposal
    const entry = { ticket: id, by: by.subject, via: by.via, approved, digest }
    try {
      checkDecider(approved ? 'approve' : 'deny', proposal, by)
    } catch (thrown) {
      record(tenant, 'decisionRefused', { ...entry, reason: thrown instanceof RpcError ? thrown.reason : '' })
      throw thrown
    }
    for (;;) {
      const live = await ticketStore.readState(id)
      const { at, epoch } = await (approved ? time.now() : time.advance())
      if (!live || proposal.epoch !== epoch || live.state.until <= at) throw invalidTicket()
      const { state } = live
      const decision: Decision = { by: by.subject, via: by.via, at, approved, ...(note && { note: shortenNote(note) }) }
      if (takeBack) refuseTakingBack(state, by)
      const withdrawn = state.status === 'approved' && !approved && isCallerOf(proposal, by)
      if (state.status !== 'pending' && !withdrawn && !takeBack) {
        refuseOtherDecision(state, decision)
        return proposal
      }
      // A process died while it added this ticket, so no call would ever find it.
      if ((await ticketStore.findByBinding(proposal)) !== id) throw invalidTicket()
      // Each person counts once.
      if (approved && state.decisions.some((made) => made.by === by.subject)) return proposal
      const to = after(state, decision, needed, at)
      if (!(await ticketStore.transition(id, live, to))) continue
      if (to.status !== 'pending') await ticketStore.removeFromPending(proposal)
      if (to.status === 'approved') await ticketStore.setLastApproved(proposal)
      record(tenant, takeBack ? 'takenBack' : 'decided', { ...entry, decisions: to.decisions.length, needed })
      notifyChange(id, to.status)
      return proposal
    }
  }

  function after({ decisions, until }: TicketState, decision: Decision, needed: number, at: number): TicketState {
    const all = [...decisions, decision]
    if (!decision.approved) return { status: 'denied', decisions: all, until: at + times.decideMs }
    // The ticket expires at the same time while approvals are still missing.
    if (all.length < needed) return { status: 'pending', decisions: all, until }
    return { status: 'approved', decisions: all, until: at + times.runMs }
  }
}

/** Whether the decision comes from the caller itself, which withdraws its request. */
const isCallerOf = ({ caller }: Proposal, { via, subject }: Decider): boolean =>
  via === 'protocol' && subject === caller.subject

/**
 * A person may take back their own approval until the ticket is spent. Both are one swap of the state, so that an
 * approval is either taken back or spent.
 */
export const mayTakeBack = (
  { status, decisions }: Pick<TicketView, 'status' | 'decisions'>,
  subject: string,
): boolean => status === 'approved' && decisions.some(({ by, approved }) => approved && by === subject)

function refuseTakingBack(state: TicketState, { subject }: Decider): void {
  if (mayTakeBack(state, subject)) return
  const { status } = state
  throw new RpcError('conflict', `You cannot take this back: the ticket is ${status}`, { data: { state: status } })
}

const shortenNote = (note: string): string => note.toWellFormed().slice(0, maxNote).toWellFormed()

/** Accepts the same decision again, because its acknowledgement may have been lost. Refuses any other. */
function refuseOtherDecision({ status, decisions }: TicketState, { by, approved }: Decision): void {
  if (decisions.findLast((made) => made.by === by)?.approved === approved) return
  throw new RpcError('conflict', `This ticket is already decided: it is ${status}`, { data: { state: status } })
}

/**
 * A person who decides, as their channel identifies them at that moment. The console uses its session, the command the
 * account it runs under, the webhook its signature. Only `approval/respond` makes one from a call.
 */
export interface Decider {
  readonly subject: string
  readonly via: DecisionChannel
  /** The tenants whose tickets this person can see. */
  readonly tenants: 'all' | readonly string[]
  /**
   * Holds the permission `approvals:decide`, and so may decide for others. Without it, a person may decide only their own
   * tickets, and only if `approver` is `owner`.
   */
  readonly operator: boolean
  /** The credential of the call that brought the decision. The credential that made the ticket never decides. */
  readonly credential?: string
}

/** An action of a person on a ticket or grant. */
export type TicketAction =
  | 'approve'
  | 'deny'
  /** Allows calls like this one for a while. */
  | 'grant'
  /** Records what became of a ticket in doubt, which may let it run again. */
  | 'resolve'
  /** Ends a grant. */
  | 'revoke'

/** The fields of a ticket or grant that determine which people may decide. */
export type Decidable = Pick<Proposal, 'tenant' | 'approver' | 'of'> & {
  readonly caller: Pick<Proposal['caller'], 'subject' | 'credential' | 'by'>
}

/** One message for unknown, foreign, changed and expired tickets, so that a caller cannot learn which tickets exist. */
export const invalidTicket = (): RpcError =>
  new RpcError(
    'approvalInvalid',
    'This approval does not exist, has expired or is not for this call: invoke the tool again to ask for a new one',
  )

const forbidden = (message: string): RpcError => new RpcError('forbidden', message)

/** Tickets of other tenants do not exist for a decider. */
const maySee = ({ tenant }: Pick<Proposal, 'tenant'>, { tenants }: Decider): boolean =>
  tenants === 'all' || tenants.includes(tenant)

/** Throws if `by` may not do this. `approver`, `of` and the tenant restrict every action that can make a call run. */
export function checkDecider(action: TicketAction, subject: Decidable, by: Decider): void {
  const { approver, caller, of } = subject
  if (!maySee(subject, by)) throw invalidTicket()
  const isOwner = by.subject === caller.subject
  if (by.via === 'protocol') {
    checkProtocolDecider(action, subject, by, isOwner)
    return
  }
  // A revocation lets nothing run, so the person whose grant it is and every operator may do it.
  if (action === 'revoke') {
    if (!by.operator && !isOwner) throw forbidden('You may revoke only your own grants')
    return
  }
  const hasAsked = isOwner || by.subject === caller.by
  if (approver === 'other' && hasAsked) throw forbidden('You asked for this call, so another person must decide it')
  const ownAnswer = (action === 'approve' || action === 'deny') && approver === 'owner' && isOwner
  if (!by.operator && !ownAnswer) throw forbidden('This needs the permission approvals:decide')
  checkNamedApprovers(of, by)
}

/** Checks a decision that a call brought, which may come from an agent. */
function checkProtocolDecider(
  action: TicketAction,
  { approver, caller, of }: Decidable,
  by: Decider,
  isOwner: boolean,
): void {
  if (action !== 'approve' && action !== 'deny')
    throw forbidden('This is not possible through the protocol: use the console or the command')
  // A caller may withdraw its own request.
  if (action === 'deny' && isOwner) return
  if (approver === 'client') {
    // Advisory. Only the client that made the call may ask its own user.
    if (!isOwner) throw invalidTicket()
  } else {
    if (isOwner || by.credential === caller.credential)
      throw forbidden('The caller cannot approve its own call through the protocol: use the console')
    if (!by.operator) throw forbidden('This needs the scope approvals:decide')
  }
  checkNamedApprovers(of, by)
}

function checkNamedApprovers(of: Decidable['of'], by: Decider): void {
  if (of && !of.includes(by.subject)) throw forbidden('Only the people named in the rule may decide this')
}

/** Decides which buttons a page shows. `checkDecider` checks again when a button is pressed. */
export function mayDecide(action: TicketAction, subject: Decidable, by: Decider): boolean {
  try {
    checkDecider(action, subject, by)
    return true
  } catch {
    return false
  }
}
