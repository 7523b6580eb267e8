/**
 * What one gated call may do next, in two screens: the model that the real code is compared with. After a fault it does
 * not know how far the code came, so it keeps every possible state. Later observations rule some out.
 */

export const decideMs = 600_000
export const runMs = 600_000
export const timeoutMs = 30_000
/** How long a process that died counts as alive: 20 s after its last sign of life, which was less than 5 s ago. */
const leases: readonly number[] = [20_000, 19_000, 18_000, 17_000, 16_000]

export interface Ticket {
  readonly is: 'pending' | 'approved' | 'denied' | 'running'
  readonly until: number
  /** What the call acted on when the ticket was created. */
  readonly effect: number
  /** Until when the claim of a run counts as in flight, by the machine's clock. */
  readonly claim?: number
}
export interface Grant {
  readonly until: number
  readonly effect: number
}
export interface State {
  /** `undefined` if the next call needs a new ticket. */
  readonly ticket?: Ticket
  readonly grants: readonly Grant[]
}
/** The time of an event. */
export interface Moment {
  /** Never goes back. */
  readonly at: number
  /** The machine's clock, which may be set back. */
  readonly wall: number
  readonly effect: number
}
export type Observed = 'required' | 'ran' | 'denied' | 'void' | 'in flight' | 'in doubt'

const without = ({ grants }: State): State => ({ grants })
const put = ({ grants }: State, ticket: Ticket): State => ({ grants, ticket })
const isLive = (ticket: Ticket, { at }: Moment): boolean => ticket.until > at
const isClaimed = ({ claim = 0 }: Ticket, { wall }: Moment): boolean => claim > wall
const unclaimed = ({ claim: _, ...ticket }: Ticket): Ticket => ticket
const covers = ({ grants }: State, { at, effect }: Moment): boolean =>
  grants.some((grant) => grant.until > at && grant.effect === effect)
/** An approval of exactly this call is spent before a grant is used. */
const isSpendable = ({ ticket }: State, now: Moment): boolean =>
  ticket?.is === 'approved' && isLive(ticket, now) && ticket.effect === now.effect
const pending = ({ at, effect }: Moment): Ticket => ({ is: 'pending', until: at + decideMs, effect })

/** A call without a fault: the observation, and the next state. */
export function afterCall(state: State, now: Moment): readonly [Observed, State] {
  const { ticket } = state
  const isNo = ticket?.is === 'denied' && isLive(ticket, now) && ticket.effect === now.effect
  if (covers(state, now) && !isSpendable(state, now)) return [isNo ? 'denied' : 'ran', state]
  if (isNo) return ['denied', state]
  if (ticket?.is === 'running') return [isClaimed(ticket, now) ? 'in flight' : 'in doubt', state]
  if (ticket?.is === 'approved' && isClaimed(ticket, now)) return ['in flight', state]
  if (!ticket || ticket.is === 'denied' || !isLive(ticket, now)) return ['required', put(state, pending(now))]
  if (ticket.effect !== now.effect) return ['void', without(state)]
  return ticket.is === 'pending' ? ['required', state] : ['ran', without(state)]
}

/** A call that a fault interrupted: every possible next state. `ran` says whether the work was seen to run. */
export function afterBrokenCall(state: State, now: Moment, ran: boolean): readonly State[] {
  const { ticket } = state
  const [seen, done] = afterCall(state, now)
  if (seen !== 'ran') return ran ? [] : [state, done]
  if ((covers(state, now) && !isSpendable(state, now)) || !ticket) return [state]
  const claims = leases.map((leaseMs) => now.wall + leaseMs)
  const began = claims.map((claim) => put(state, { ...ticket, is: 'running', claim }))
  if (ran) return [without(state), ...began]
  const claimed = claims.map((claim) => put(state, { ...ticket, claim }))
  return [state, put(state, unclaimed(ticket)), ...claimed, ...began, without(state)]
}

/** Decided by a person; the ticket was shown as pending. */
export function afterDecision(state: State, now: Moment, approved: boolean): State {
  const { ticket } = state
  if (ticket?.is !== 'pending' || !isLive(ticket, now)) return state
  return put(state, {
    ...ticket,
    is: approved ? 'approved' : 'denied',
    until: now.at + (approved ? runMs : decideMs),
  })
}

/** `approved: false` beside the ticket's id. */
export function afterWithdrawal(state: State, now: Moment): State {
  const { ticket } = state
  if (!ticket || !isLive(ticket, now) || !['pending', 'approved'].includes(ticket.is)) return state
  return put(state, { ...unclaimed(ticket), is: 'denied', until: now.at + decideMs })
}

/** The person who approved takes it back; the ticket was shown as approved. */
export const afterTakingBack = (state: State, now: Moment): State =>
  state.ticket?.is === 'approved' ? afterWithdrawal(state, now) : state

export function afterResolution(state: State, now: Moment, ran: boolean): State {
  const { ticket } = state
  if (ticket?.is !== 'running' || isClaimed(ticket, now)) return state
  return ran ? without(state) : put(state, { ...unclaimed(ticket), is: 'approved' })
}

export const afterGrant = (state: State, now: Moment, lastMs: number): State =>
  state.ticket
    ? { ...state, grants: [...state.grants, { until: now.at + lastMs, effect: state.ticket.effect }] }
    : state

export function afterRevocation(state: State, until: number): State {
  const index = state.grants.findIndex((grant) => grant.until === until)
  return { ...state, grants: state.grants.filter((_, at) => at !== index) }
}

/** In the background, some time later, a claim whose write failed is released, and an outcome is written. */
export function afterWaiting(state: State): readonly State[] {
  const { ticket } = state
  if (ticket?.claim === undefined) return [state]
  if (ticket.is === 'running') return [state, without(state)]
  return ticket.is === 'approved' ? [state, put(state, unclaimed(ticket))] : [state]
}

/** As approvals show it; `undefined` if nothing waits for a person. */
export function viewOf({ ticket }: State, now: Moment): 'pending' | 'approved' | 'running' | 'in doubt' | undefined {
  if (!ticket || ticket.is === 'denied') return undefined
  if (ticket.is !== 'pending' && isClaimed(ticket, now)) return 'running'
  if (ticket.is === 'running') return 'in doubt'
  return isLive(ticket, now) ? ticket.is : undefined
}
