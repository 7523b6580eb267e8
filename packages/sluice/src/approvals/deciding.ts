/** Who may decide what: one function for every way in. Checked at the moment of deciding, not when the page was opened. */

import { RpcError } from '../core/error.ts'
import type { Proposal, Via } from './ticket.ts'

/**
 * A person who decides, as whoever let them in knows them now: the console from its session, the command from the account
 * it runs under, the webhook from its signature. Never made from a call, except by `approval/respond`.
 */
export interface Decider {
  readonly subject: string
  readonly via: Via
  /** Whose tickets there are for this person at all. */
  readonly tenants: 'all' | readonly string[]
  /** Holds the right `approvals:decide`: may decide for others. Without it, only where `approver` is `owner`, and only their own. */
  readonly operator: boolean
  /** The credential that speaks, where a call brought the decision: the ticket's own never decides. */
  readonly credential?: string
}

/** What people do with tickets and grants. */
export type Action =
  | 'approve'
  | 'deny'
  /** Allows calls like this one for a while. */
  | 'grant'
  /** Says what became of a ticket in doubt, which may let it run again. */
  | 'resolve'
  /** Takes a grant back. */
  | 'revoke'

/** What a ticket, or a grant made from it, says about the people who decide. */
export type Subject = Pick<Proposal, 'tenant' | 'approver' | 'of'> & {
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
export function checkDecider(action: Action, subject: Subject, by: Decider): void {
  const { approver, caller, of } = subject
  if (!maySee(subject, by)) throw invalidTicket()
  const isOwner = by.subject === caller.subject
  if (by.via === 'protocol') {
    checkCaller(action, subject, by, isOwner)
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
  checkNamed(of, by)
}

/** A call brought the decision, so an agent may be behind it. */
function checkCaller(action: Action, { approver, caller, of }: Subject, by: Decider, isOwner: boolean): void {
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
  checkNamed(of, by)
}

function checkNamed(of: Subject['of'], by: Decider): void {
  if (of && !of.includes(by.subject)) throw forbidden('Only the people named in the rule may decide this')
}

/** For the buttons of a page. What counts is what `checkDecider` says when the button is pressed. */
export function mayDecide(action: Action, subject: Subject, by: Decider): boolean {
  try {
    checkDecider(action, subject, by)
    return true
  } catch {
    return false
  }
}
