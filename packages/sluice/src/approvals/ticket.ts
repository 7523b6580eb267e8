/** A ticket: exactly what one gated call asks for, and its state. */

import type { AskedInCall } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import type { Effect } from '../core/target.ts'

/**
 * The person who decides. `owner`: the person the agent works for, signed in to the console, or an operator. `other`: an
 * operator who is not that person. `client`: the calling client asks its own user, which is not proof for anyone else.
 */
export type Approver = 'owner' | 'other' | 'client'

/** The status of a ticket. */
export type TicketStatus =
  | 'pending'
  | 'approved'
  | 'denied'
  /** It was not decided in time, or not run in time. */
  | 'expired'
  /** The state it acts on changed before it ran, or its caller withdrew it. */
  | 'void'
  | 'running'
  | 'done'
  /** It ran and failed. */
  | 'failed'
  /** It was started, and it is unknown whether it had its effect. It does not run again. */
  | 'in doubt'

/** The call that is asked for. It is written once, when the ticket is made, and it is exactly what runs. */
export interface Proposal {
  readonly id: string
  readonly tenant: string
  readonly caller: ProposalCaller
  readonly server: string
  readonly tool: string
  readonly title?: string
  readonly description: string
  /** The tool's own statements. An untrusted tool may lie. */
  readonly annotations: { readonly [hint: string]: unknown }
  /** The complete arguments as received, as RFC 8785 text. These will run. */
  readonly arguments: string
  /** The answers to the tool's questions, as RFC 8785 text. */
  readonly answers: string
  /** The effect of the call when the ticket was made. Absent if the tool states none. */
  readonly effect?: Effect
  /** SHA-256 over arguments, answers and effect, which are the subject of a decision. */
  readonly digest: string
  /** SHA-256 over the tool's list entry, its policy, the server's name and version, and the rule that gated it. */
  readonly definition: string
  /** SHA-256 over everything the ticket is bound to except the effect. A call that differs does not find the ticket. */
  readonly binding: string
  readonly approver: Approver
  /** The number of different people who must approve. One denial is enough to deny. */
  readonly needed: number
  /** The subjects who may decide. If absent, `approver` alone determines them. */
  readonly of?: readonly string[]
  /** The operator's rule that decided, in words. Absent if the tool alone asks for an approval. */
  readonly rule?: string
  readonly createdAt: number
  /** The number of tickets that this process made before it in the same millisecond. Lists are in this order. */
  readonly sequence?: number
  readonly expiresAt: number
  /** The store's epoch when the ticket was made. After the store is restored from a copy, the ticket is void. */
  readonly epoch: string
  /** The id of the last approved ticket of the same caller and tool. */
  readonly previous?: string
  /** The task that waits for this ticket. */
  readonly task?: string
  /** The caller's slot for pending tickets that this ticket holds. */
  readonly slot: string
}

export interface ProposalCaller {
  readonly subject: string
  readonly credential: string
  /** The name that the client claims. It is unverified. */
  readonly client?: string
  /** The operator who made the call at the console, as this caller. */
  readonly by?: string
}

/** One person’s decision, and the channel it came through. */
export interface Decision {
  /** The subject of the person who decided. */
  readonly by: string
  readonly via: DecisionChannel
  readonly at: number
  readonly approved: boolean
  readonly note?: string
}
/** The channel a decision came through. */
export type DecisionChannel = 'console' | 'command' | 'webhook' | 'protocol'

/** The state of a ticket. It is the only value of a ticket that is swapped. */
export interface TicketState {
  readonly status: 'pending' | 'approved' | 'denied' | 'void' | 'running' | 'done' | 'failed'
  readonly decisions: readonly Decision[]
  /** When the time to decide or run ends, or when a denial expires. Measured in the time of `time.ts`. */
  readonly until: number
  /** The caller cancelled the task that waited for it, so it is void. */
  readonly withdrawn?: true
  /** When the work began. */
  readonly startedAt?: number
  /** When its result was recorded. Absent if another process found the result later. */
  readonly endedAt?: number
  /** What the work asked while it ran, and the answers. The approval does not cover them. */
  readonly questions?: readonly AskedInCall[]
}

/** A ticket as the console, the command and the webhook show it. */
export interface TicketView extends Omit<Proposal, 'binding' | 'slot' | 'previous' | 'epoch' | 'sequence'> {
  readonly status: TicketStatus
  readonly decisions: readonly Decision[]
  /** What the work asked while it ran, and the answers. The approval does not cover them. */
  readonly questions?: readonly AskedInCall[]
  /** Its caller withdrew it, so it is void. */
  readonly withdrawn?: true
  /** Until when an approved call may run. Absent in every other status. */
  readonly runUntil?: number
  /** The last approved call of the same caller to the same tool, so that a person sees what changed. */
  readonly previous?: { readonly id: string; readonly arguments: string; readonly status: TicketStatus }
  /** The page where a person decides. Absent if no console URL is configured. */
  readonly url?: string
}

const statuses: readonly TicketStatus[] = ['pending', 'approved', 'denied', 'void', 'running', 'done', 'failed']

const isStatus = (value: unknown): value is TicketStatus =>
  typeof value === 'string' && statuses.some((status) => status === value)

const isState = (value: unknown): value is TicketState =>
  isObject(value) &&
  isStatus(value['status']) &&
  Array.isArray(value['decisions']) &&
  typeof value['until'] === 'number'

const isProposal = (value: unknown): value is Proposal =>
  isObject(value) && typeof value['binding'] === 'string' && typeof value['arguments'] === 'string'

/** Throws on an invalid state, because an unreadable ticket must not count as absent. */
export function parseState(text: string): TicketState {
  const state: unknown = JSON.parse(text)
  if (!isState(state)) throw new TypeError('Invalid ticket state in the store')
  return state
}
export function parseProposal(text: string): Proposal {
  const proposal: unknown = JSON.parse(text)
  if (!isProposal(proposal)) throw new TypeError('Invalid ticket in the store')
  return proposal
}
