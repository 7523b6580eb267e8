/** Who may decide what. Checked at the moment of deciding, not when the page was opened. */

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

/** One text for unknown, foreign, changed and expired: which it was is nobody's business. */
export const invalidTicket = (): RpcError =>
  new RpcError(
    'approvalInvalid',
    'There is no such approval, or it has expired, or it is not for this call: invoke the tool again to ask for a new one',
  )

const forbidden = (why: string): RpcError => new RpcError('forbidden', why)

/** To somebody of another tenant it is as if there were no such ticket. */
export const maySee = ({ tenant }: Pick<Proposal, 'tenant'>, { tenants }: Decider): boolean =>
  tenants === 'all' || tenants.includes(tenant)

/** Throws unless `by` may decide it. */
export function checkDecider(proposal: Proposal, by: Decider): void {
  const { approver, caller, of } = proposal
  if (!maySee(proposal, by)) throw invalidTicket()
  const isOwner = by.subject === caller.subject
  if (by.via === 'protocol') checkCaller(proposal, by, isOwner)
  else if (approver === 'other' && isOwner) throw forbidden('Somebody else has to decide this: you asked for it')
  else if (!by.operator && !(approver === 'owner' && isOwner)) throw forbidden('This needs the right approvals:decide')
  if (of && !of.includes(by.subject)) throw forbidden('Only the people named in the rule may decide this')
}

/** A call brought the decision, so an agent may be behind it. */
function checkCaller({ approver, caller }: Proposal, by: Decider, isOwner: boolean): void {
  if (approver === 'client') {
    // Advisory: the client that asked asks its own human, and nobody else's client may.
    if (!isOwner) throw invalidTicket()
    return
  }
  if (isOwner || by.credential === caller.credential)
    throw forbidden('Whoever asked for this cannot decide it through the protocol: use the console')
  if (!by.operator) throw forbidden('This needs the scope approvals:decide')
}
