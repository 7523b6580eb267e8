/**
 * What people and their tools do with tickets. The console, the command, the webhook and `approval/respond` all use this
 * service, so that a decision is made and checked in one place.
 */

import type { Decider } from './decide.ts'
import type { Grants, GrantsOptions } from './grants.ts'
import type { Rule, RuleSubject, RuleVerdict, RuleView } from './rules.ts'
import type { RunResult } from './run-result.ts'
import type { HeaderLookup } from './signature.ts'
import type { Approver, TicketStatus, TicketView } from './ticket.ts'
import type { WebhookOptions } from './webhook.ts'

/** Looks tickets up and decides them. */
export interface ApprovalsService {
  /** Undecided ones first, by age, then the rest, newest first. A page at a time: there may be ten thousand. */
  list(query?: TicketQuery): Promise<{ readonly tickets: readonly TicketView[]; readonly next?: string }>
  get(id: string): Promise<TicketView | undefined>
  /** Returns the answer of a ticket's run. `undefined` before it has ended, and a day after it. */
  result(id: string): Promise<RunResult | undefined>
  /** How many are undecided, of these tenants or of all. */
  pending(tenants?: readonly string[]): Promise<number>
  /**
   * One atomic step: of all who decide at once, one does. Throws an `RpcError`: `approvalInvalid` where there is no such
   * ticket for `by` or its time is up, `forbidden` where `by` may not, `conflict` where it is decided.
   */
  decide(id: string, decision: { readonly approved: boolean; readonly note?: string }, by: Decider): Promise<TicketView>
  /**
   * Takes back the person's own approval: the ticket is denied. Throws `conflict` if it was spent before, or if this
   * person did not approve it.
   */
  takeBack(id: string, by: Decider): Promise<TicketView>
  /** Somebody found out what became of a ticket in doubt. `did not run`: it may, while its time is not up. */
  resolve(id: string, verdict: 'ran' | 'did not run', by: Decider): Promise<TicketView>
  /** Whether a webhook is configured, so that decisions may come back from its other end. */
  readonly acceptsWebhook: boolean
  /**
   * What the webhook's other end sends back, as it came: a decision, signed. Throws `unauthorized` where the signature is
   * not good, and what `decide` throws.
   */
  handleWebhook(header: HeaderLookup, body: string): Promise<TicketView>
  /** Hears of every change, whichever process made it. It only wakes: `get` has the truth. */
  watch(listener: (change: TicketChange) => void): () => void
  readonly rules: readonly RuleView[]
  /** Returns what the rules say about a call, without a ticket. */
  verdict(call: RuleSubject, server: string): RuleVerdict
  readonly grants: Grants
}

/** Which tickets to list: all by default. */
export interface TicketQuery {
  readonly tenant?: string
  /** `decided`: all that are no longer pending. */
  readonly status?: TicketStatus | 'decided'
  readonly tool?: string
  /** `next` of the page before. */
  readonly after?: string
  readonly limit?: number
}
/** A ticket that is now in another state. */
export interface TicketChange {
  readonly id: string
  readonly status: TicketStatus
}

/** Which calls need a person, who decides, and how long everything may take. */
export interface ApprovalsOptions {
  /** The operator's, before what a tool says itself; the first that matches decides. */
  readonly rules?: readonly Rule[]
  readonly approver?: Approver
  /** Where the console is: a ticket's page is `<url>/approvals/<id>`. A function where it is known only later. */
  readonly url?: string | (() => string | undefined)
  /**
   * Returns the command line that approves a ticket when a person pastes it into a terminal. Callers on stdio are told it,
   * because there is often no console.
   */
  readonly command?: (id: string) => string
  /** Allows grants, up to this long. Off by default, because each is a standing permission. */
  readonly grants?: GrantsOptions
  /** How long a person has to decide, and how long a denial holds: ten minutes. */
  readonly decideMs?: number
  /** How long the caller has to run what was approved: ten minutes. */
  readonly runMs?: number
  /** How long tickets, with their arguments, can be looked up: a week. */
  readonly keepMs?: number
  /** Tells another program of new tickets, and takes decisions from it. */
  readonly webhook?: WebhookOptions
  /** Pending tickets of one caller: 20 by default. More are refused, because a request could hide among them. */
  readonly maxPending?: number
  /**
   * How long a call waits for a quick decision before it is answered with `approvalRequired`: not at all by default. It
   * holds the call's slot meanwhile, for at most half of the call's deadline.
   */
  readonly waitMs?: number
}
