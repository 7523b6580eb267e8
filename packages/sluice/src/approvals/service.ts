/**
 * The service through which people and their tools use tickets. The console, the command, the webhook and
 * `approval/respond` all use this service, so that a decision is made and checked in one place.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import { resolveInDoubt } from '../core/idempotency-record.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import type { Decider, TicketEnds } from './decide.ts'
import { checkDecider, createTicketEnds, invalidTicket } from './decide.ts'
import type { GrantRegistry, Grants, GrantsOptions } from './policy/grants.ts'
import { createGrants } from './policy/grants.ts'
import type { Rule, RuleSubject, Rules, RuleVerdict, RuleView } from './policy/rules.ts'
import { createRules } from './policy/rules.ts'
import type { Approver, Proposal, TicketStatus, TicketView } from './ticket.ts'
import type { TicketStore, TicketTimes } from './ticket-store.ts'
import { createList, createPendingCount, createTicketStore } from './ticket-store.ts'
import type { RunResult } from './ticket-view.ts'
import { createTicketReader, storeOfServer } from './ticket-view.ts'
import type { ApprovalTime } from './time.ts'
import { createApprovalTime } from './time.ts'
import type { HeaderLookup } from './webhook/signature.ts'
import type { WebhookOptions } from './webhook/webhook.ts'
import { createWebhook } from './webhook/webhook.ts'

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

/** The services of a server that approvals use. */
export interface ApprovalsDeps {
  readonly store: Store
  readonly bus: Bus
  readonly clock: Clock
  readonly logger: Logger
  /** Writes to the audit, if the server has one. Values, never arguments. */
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

/** The service for people, and what the approval layer shares with it: tickets, rules and grants on one store. */
export interface SharedApprovals extends Pick<ApprovalsDeps, 'record'>, Omit<TicketEnds, 'decide'> {
  readonly service: ApprovalsService
  readonly ticketStore: TicketStore
  readonly time: ApprovalTime
  readonly times: TicketTimes
  readonly rules: Rules
  readonly grants: GrantRegistry
  readonly approver: Approver
  readonly maxPending: number
  urlOf(id: string): string | undefined
  /** Notifies the watchers in all processes, without waiting. Delivery is a hint: a receiver that misses it reads the store. */
  notifyChange(id: string, status: TicketStatus): void
  /** Announces a new ticket to people, also if this process ends now. */
  announce(proposal: Proposal): Promise<void>
  /** Rejects if the store is not durable enough for tickets. A forgotten ticket could be spent again. */
  ready(): Promise<void>
  close(): void
}

const minute = 60_000
const day = 24 * 60 * minute
const channel = 'approvals'

export function createSharedApprovals(
  { store, bus, clock, logger, record }: ApprovalsDeps,
  options: ApprovalsOptions = {},
): SharedApprovals {
  const { approver = 'owner', maxPending = 20, decideMs = 10 * minute, runMs = 10 * minute, keepMs = 7 * day } = options
  // A ticket that is forgotten before its time is up would be approved for nothing.
  const times: TicketTimes = { decideMs, runMs, keepMs: Math.max(keepMs, decideMs + runMs + day) }
  const ticketStore = createTicketStore(store, times)
  const time = createApprovalTime(store, clock)
  const rules = createRules(options.rules)
  const grants = createGrants({ store, ticketStore, time, record }, options.grants)
  const { view, get, result } = createTicketReader(store, ticketStore, time, urlOf)
  const { decide: makeDecision, ...ends } = createTicketEnds({ ticketStore, time, times, record, notifyChange })
  const decide: ApprovalsService['decide'] = async (id, decision, by) => viewAfter(await makeDecision(id, decision, by))
  const watch: ApprovalsService['watch'] = (listener) =>
    bus.subscribe(channel, (message) => {
      const change: unknown = JSON.parse(message)
      if (isTicketChange(change)) listener(change)
    })
  const webhook =
    options.webhook &&
    createWebhook(options.webhook, { store, clock, logger, approvals: { get, decide, watch }, decideMs })

  function urlOf(id: string): string | undefined {
    const base = typeof options.url === 'function' ? options.url() : options.url
    return base === undefined ? undefined : `${base.replace(/\/+$/, '')}/approvals/${encodeURIComponent(id)}`
  }
  function notifyChange(id: string, status: TicketStatus): void {
    bus.publish(channel, JSON.stringify({ id, status } satisfies TicketChange)).catch(() => {})
  }
  async function viewAfter(proposal: Proposal): Promise<TicketView> {
    const found = await view(proposal)
    if (!found) throw invalidTicket()
    return found
  }
  async function resolveClaim(proposal: Proposal, verdict: 'ran' | 'did not run'): Promise<void> {
    const { id, tenant, caller, server } = proposal
    const key = { tenant, subject: caller.subject, name: { ticket: id } }
    const found = await resolveInDoubt(storeOfServer(store, server), key, verdict)
    // If the record of the run has expired, the ticket alone says that it was begun.
    if (found === 'resolved' || (await view(proposal))?.status === 'in doubt') return
    throw new RpcError('conflict', `This ticket is ${found}`, { data: { state: found } })
  }

  const service: ApprovalsService = {
    list: createList(ticketStore, get),
    pending: createPendingCount(ticketStore),
    ...{ get, result, decide, watch, grants },
    takeBack: async (id, by) => viewAfter(await makeDecision(id, { approved: false, takeBack: true }, by)),
    async resolve(id, verdict, by) {
      const proposal = await ticketStore.readProposal(id)
      if (!proposal) throw invalidTicket()
      checkDecider('resolve', proposal, by)
      await resolveClaim(proposal, verdict)
      // A ticket that ran is done. One that did not run may run until its time is up.
      const live = await ticketStore.readState(id)
      const status = verdict === 'ran' ? 'done' : 'approved'
      if (live?.state.status === 'running') await ticketStore.transition(id, live, { ...live.state, status })
      record(proposal.tenant, 'resolved', { ticket: id, by: by.subject, via: by.via, verdict })
      const resolved = await viewAfter(proposal)
      notifyChange(id, resolved.status)
      return resolved
    },
    acceptsWebhook: webhook?.acceptsDecisions === true,
    async handleWebhook(header, body) {
      if (!webhook) throw new RpcError('forbidden', 'No webhook is configured here')
      return webhook.handleWebhook(header, body)
    },
    rules: rules.views,
    verdict: rules.verdict,
  }
  return {
    ...{ service, ticketStore, time, times, rules, grants, approver, maxPending, record, urlOf, notifyChange },
    ...ends,
    announce: async (proposal) => webhook?.enqueue(proposal),
    async ready() {
      for (const message of (await store.checkDurability?.()) ?? []) logger.warn({ event: 'approvalsStore', message })
      webhook?.start()
    },
    close() {
      time.close()
      webhook?.close()
    },
  }
}

const isTicketChange = (value: unknown): value is TicketChange => isObject(value) && typeof value['id'] === 'string'
