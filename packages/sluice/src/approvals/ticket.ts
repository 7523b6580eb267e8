/** What one gated call asks for, exactly, and how far it has come. */

import { isObject } from '../core/json.ts'
import type { Effect } from '../core/target.ts'

/**
 * Who decides. `owner`: the person the agent works for, signed in to the console, or an operator. `other`: an operator
 * who is not that person. `client`: the calling client asks its own human, which proves nothing to anybody else.
 */
export type Approver = 'owner' | 'other' | 'client'

/** How far a ticket has come. */
export type TicketStatus =
  | 'pending'
  | 'approved'
  | 'denied'
  /** Nobody decided in time, or nobody ran it in time. */
  | 'expired'
  /** What it acts on changed before it ran. */
  | 'void'
  | 'running'
  | 'done'
  /** It ran, and said that it failed. */
  | 'failed'
  /** It was begun and nobody can say whether it had its effect. It does not run again. */
  | 'in doubt'

/** What is asked for. Written once, when the ticket is made, and what runs in the end. */
export interface Proposal {
  readonly id: string
  readonly tenant: string
  readonly caller: ProposalCaller
  readonly server: string
  readonly tool: string
  readonly title?: string
  readonly description: string
  /** As the tool states them; an untrusted tool may lie. */
  readonly annotations: { readonly [hint: string]: unknown }
  /** RFC 8785 text of the arguments as they were received: complete, and what will run. */
  readonly arguments: string
  /** RFC 8785 text of what the person answered to the tool's questions. */
  readonly answers: string
  /** What the call acts on, as the tool stated it when the ticket was made. Absent if the tool states nothing. */
  readonly effect?: Effect
  /** SHA-256 over arguments, answers and effect: what a decision is about. */
  readonly digest: string
  /** SHA-256 over the tool's list entry, its policy, the server's name and version, and the rule that gated it. */
  readonly definition: string
  /** SHA-256 over all the ticket is bound to but the effect: a call that brings something else does not find it. */
  readonly binding: string
  readonly approver: Approver
  /** So many different people must approve; one denial is enough. */
  readonly needed: number
  /** Only these may decide; absent, whoever `approver` lets. */
  readonly of?: readonly string[]
  readonly createdAt: number
  readonly expiresAt: number
  /** In which life of the store it was made: after the store was restored from a copy it is void. */
  readonly epoch: string
  /** The last approved call of the same caller to the same tool. */
  readonly previous?: string
  /** The task that waits for this ticket. */
  readonly task?: string
  /** Which of the caller's places for undecided tickets it holds. */
  readonly slot: string
}

export interface ProposalCaller {
  readonly subject: string
  readonly credential: string
  /** What the client calls itself. Nobody vouches for it. */
  readonly client?: string
}

/** One person’s yes or no, and through which door it came. */
export interface Decision {
  /** The subject who decided. */
  readonly by: string
  readonly via: DecisionChannel
  readonly at: number
  readonly approved: boolean
  readonly note?: string
}
/** Through which door a decision came. */
export type DecisionChannel = 'console' | 'command' | 'webhook' | 'protocol'

/** How far it has come: the one value that is swapped. */
export interface TicketState {
  readonly status: 'pending' | 'approved' | 'denied' | 'void' | 'running' | 'done' | 'failed'
  readonly decisions: readonly Decision[]
  /** Until when it may be decided, be run, or stands as a denial; by the time of `time.ts`. */
  readonly until: number
}

/** A ticket as people and their tools see it. */
export interface TicketView extends Omit<Proposal, 'binding' | 'slot' | 'previous' | 'epoch'> {
  readonly status: TicketStatus
  readonly decisions: readonly Decision[]
  /** The last approved call of the same caller to the same tool, to see what changed. */
  readonly previous?: { readonly id: string; readonly arguments: string; readonly status: TicketStatus }
  /** Where a person decides; absent where the operator has named no console. */
  readonly url?: string
}

const statuses = ['pending', 'approved', 'denied', 'void', 'running', 'done', 'failed']

/** Throws on what is not ours: a ticket that cannot be read must not count as none. */
export function parseState(text: string): TicketState {
  const state: unknown = JSON.parse(text)
  if (
    !isObject(state) ||
    !statuses.includes(String(state['status'])) ||
    !Array.isArray(state['decisions']) ||
    typeof state['until'] !== 'number'
  )
    throw new TypeError('The state of a ticket cannot be read')
  return state as unknown as TicketState
}
export function parseProposal(text: string): Proposal {
  const proposal: unknown = JSON.parse(text)
  if (!isObject(proposal) || typeof proposal['binding'] !== 'string' || typeof proposal['arguments'] !== 'string')
    throw new TypeError('A ticket cannot be read')
  return proposal as unknown as Proposal
}
