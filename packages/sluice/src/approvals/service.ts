/**
 * The service through which people and their tools use tickets. The console, the command, the webhook and `approval/respond` all use this
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
  /** Lists undecided tickets first, oldest first, then the rest, newest first. In pages, because there may be thousands. */
  list(query?: TicketQuery): Promise<{ readonly tickets: readonly TicketView[]; readonly next?: string }>
  get(id: string): Promise<TicketView | undefined>
  /** Returns the answer of a ticket's run. `undefined` before it has ended, and a day after it. */
  result(id: string): Promise<RunResult | undefined>
  /** Counts the pending tickets of these tenants or of all, up to 10 000. */
  pending(tenants?: readonly string[]): Promise<number>
  /**
   * Decides a ticket in one atomic step, so that one of several concurrent decisions counts. Throws an `RpcError`:
   * `approvalInvalid` if `by` has no such ticket or its time is up, `forbidden` if `by` may not decide it, `conflict` if
   * it is decided already.
   */
  decide(id: string, decision: { readonly approved: boolean; readonly note?: string }, by: Decider): Promise<TicketView>
  /**
   * Takes back the person's own approval: the ticket is denied. Throws `conflict` if it was spent before, or if this
   * person did not approve it.
   */
  takeBack(id: string, by: Decider): Promise<TicketView>
  /** Resolves a ticket in doubt, as a person found out. After `did not run` it may run until its time is up. */
  resolve(id: string, verdict: 'ran' | 'did not run', by: Decider): Promise<TicketView>
  /** Whether a webhook is configured, so that decisions may come back from its other end. */
  readonly acceptsWebhook: boolean
  /**
   * Takes the signed decision that the webhook's receiver sends back, as it arrived. Throws `unauthorized` if the
   * signature is invalid, and what `decide` throws.
   */
  handleWebhook(header: HeaderLookup, body: string): Promise<TicketView>
  /** Calls `listener` on every change, in whichever process. Delivery is a hint: read the ticket with `get`. */
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
  /** The rules of the operator. They override what a tool says itself; the first that matches decides. */
  readonly rules?: readonly Rule[]
  readonly approver?: Approver
  /** The URL of the console: a ticket's page is `<url>/approvals/<id>`. A function if it is known only later. */
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
  /** Notifies another program of new tickets, and accepts decisions from it. */
  readonly webhook?: WebhookOptions
  /** Pending tickets of one caller: 20 by default. More are refused, because a request could hide among them. */
  readonly maxPending?: number
  /**
   * How long a call waits for a quick decision before it is answered with `approvalRequired`: not at all by default. It
   * holds the call's slot meanwhile, for at most half of the call's deadline.
   */
  readonly waitMs?: number
}
