/** The service for people, and what the approval layer shares with it: tickets, rules and grants on one store. */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import { resolveInDoubt } from '../core/idempotency-record.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import { claimOf } from './claim.ts'
import { checkDecider, createDecide, invalidTicket } from './decide.ts'
import type { GrantRegistry } from './grants.ts'
import { createGrants } from './grants.ts'
import { createList, createPendingCount } from './list.ts'
import type { Rules } from './rules.ts'
import { createRules } from './rules.ts'
import { readRunResult } from './run-result.ts'
import type { ApprovalsOptions, ApprovalsService, TicketChange } from './service.ts'
import type { Approver, Proposal, TicketStatus, TicketView } from './ticket.ts'
import type { TicketStore, TicketTimes, VersionedState } from './ticket-store.ts'
import { createTicketStore } from './ticket-store.ts'
import type { ApprovalTime } from './time.ts'
import { createApprovalTime } from './time.ts'
import { createWebhook } from './webhook.ts'

/** The services of a server that approvals use. */
export interface EngineDeps {
  readonly store: Store
  readonly bus: Bus
  readonly clock: Clock
  readonly logger: Logger
  /** Writes to the audit, if the server has one. Values, never arguments. */
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

export interface ApprovalEngine extends ApprovalsService {
  readonly ticketStore: TicketStore
  readonly time: ApprovalTime
  readonly policy: Rules
  readonly grants: GrantRegistry
  readonly approver: Approver
  readonly maxPending: number
  readonly times: TicketTimes
  urlOf(id: string): string | undefined
  /** The command line that approves a ticket. */
  commandOf(id: string): string | undefined
  /** Notifies the watchers. */
  notifyChange(id: string, status: TicketStatus): void
  /** Voids a ticket whose subject changed. Returns false if its state is no longer `from`. */
  voidTicket(proposal: Proposal, from: VersionedState): Promise<boolean>
  /** Announces a new ticket to people, also if this process ends now. */
  announce(proposal: Proposal): Promise<void>
  /** Rejects if the store is not durable enough for tickets. A forgotten ticket could be spent again. */
  ready(): Promise<void>
  close(): void
}

const minute = 60_000
const day = 24 * 60 * minute
const channel = 'approvals'

export function createApprovalEngine(
  { store, bus, clock, logger, record }: EngineDeps,
  options: ApprovalsOptions = {},
): ApprovalEngine {
  const { approver = 'owner', maxPending = 20, decideMs = 10 * minute, runMs = 10 * minute, keepMs = 7 * day } = options
  // A ticket that is forgotten before its time is up would be approved for nothing.
  const times: TicketTimes = { decideMs, runMs, keepMs: Math.max(keepMs, decideMs + runMs + day) }
  const ticketStore = createTicketStore(store, times)
  const time = createApprovalTime(store, clock)
  const policy = createRules(options.rules)
  const grants = createGrants({ store, ticketStore, time, record }, options.grants)
  const ofServer = (name: string): Store => prefixed(store, ['server', name])
  const makeDecision = createDecide({ ticketStore, time, times, record, notifyChange })

  function urlOf(id: string): string | undefined {
    const base = typeof options.url === 'function' ? options.url() : options.url
    return base === undefined ? undefined : `${base.replace(/\/+$/, '')}/approvals/${encodeURIComponent(id)}`
  }
  /** Notifies all processes, without waiting. Delivery is a hint: a receiver that misses it reads the store. */
  function notifyChange(id: string, status: TicketStatus): void {
    bus.publish(channel, JSON.stringify({ id, status } satisfies TicketChange)).catch(() => {})
  }
  const watch: ApprovalsService['watch'] = (listener) =>
    bus.subscribe(channel, (message) => {
      const change: unknown = JSON.parse(message)
      if (isTicketChange(change)) listener(change)
    })

  /** Returns the ticket as it is now, with the outcome in its idempotency record. `undefined` if it was never added. */
  async function statusOf(proposal: Proposal): Promise<CurrentStatus | undefined> {
    const live = await ticketStore.readState(proposal.id)
    const found = live && (await statusFrom(proposal, live))
    const { questions } = live?.state ?? {}
    return found && { ...found, ...(questions && { questions }) }
  }
  async function statusFrom(proposal: Proposal, live: VersionedState): Promise<CurrentStatus | undefined> {
    const { at, epoch } = await time.now()
    const { status, decisions, until } = live.state
    const unused = proposal.epoch === epoch ? (until > at ? status : 'expired') : 'void'
    if (status === 'pending') {
      if (unused === 'pending' && (await ticketStore.findByBinding(proposal)) !== proposal.id) return undefined
      return { status: unused, decisions }
    }
    if (status !== 'approved' && status !== 'running') return { status, decisions }
    const claim = await claimOf(ofServer(proposal.server), proposal)
    if (claim.state === 'done') return { status: claim.status, decisions }
    if (claim.state === 'started' && !claim.inDoubt) return { status: 'running', decisions }
    // Its claim does not matter, because it was not spent: the state is written right before the work.
    if (status === 'approved') return { status: unused, decisions, ...(unused === 'approved' && { runUntil: until }) }
    if (claim.state === 'started') return { status: 'in doubt', decisions }
    if (claim.state === 'none') return { status: 'in doubt', decisions }
    return { status: unused === 'running' ? 'approved' : unused, decisions }
  }
  async function viewOf(proposal: Proposal): Promise<TicketView | undefined> {
    const { binding: _, slot: _1, epoch: _2, previous, ...shown } = proposal
    const [status, before] = await Promise.all([
      statusOf(proposal),
      previous === undefined ? undefined : previousOf(previous),
    ])
    if (!status) return undefined
    const url = urlOf(proposal.id)
    return { ...shown, ...status, ...(before && { previous: before }), ...(url !== undefined && { url }) }
  }
  async function previousOf(id: string): Promise<TicketView['previous']> {
    const proposal = await ticketStore.readProposal(id)
    const found = proposal && (await statusOf(proposal))
    return found && { id, arguments: proposal.arguments, status: found.status }
  }
  async function get(id: string): Promise<TicketView | undefined> {
    const proposal = await ticketStore.readProposal(id)
    return proposal && viewOf(proposal)
  }
  async function viewAfter(proposal: Proposal): Promise<TicketView> {
    const view = await viewOf(proposal)
    if (!view) throw invalidTicket()
    return view
  }
  const decide: ApprovalsService['decide'] = async (id, decision, by) => viewAfter(await makeDecision(id, decision, by))

  async function resolveClaim(proposal: Proposal, verdict: 'ran' | 'did not run'): Promise<void> {
    const { id, tenant, caller, server } = proposal
    const name = { ticket: id }
    const found = await resolveInDoubt(ofServer(server), { tenant, subject: caller.subject, name }, verdict)
    if (found === 'resolved') return
    const state = (await statusOf(proposal))?.status
    // The record of the run is gone, so the ticket alone says that it was begun.
    if (state === 'in doubt') return
    throw new RpcError('conflict', `This ticket is ${found}`, { data: { state: found } })
  }

  const webhook =
    options.webhook &&
    createWebhook(options.webhook, { store, clock, logger, approvals: { get, decide, watch }, decideMs })

  return {
    list: createList(ticketStore, get),
    pending: createPendingCount(ticketStore),
    get,
    async result(id) {
      const proposal = await ticketStore.readProposal(id)
      return proposal && readRunResult(ofServer(proposal.server), proposal, (await ticketStore.readState(id))?.state)
    },
    decide,
    takeBack: async (id, by) => viewAfter(await makeDecision(id, { approved: false, takeBack: true }, by)),
    async resolve(id, verdict, by) {
      const proposal = await ticketStore.readProposal(id)
      if (!proposal) throw invalidTicket()
      checkDecider('resolve', proposal, by)
      const { tenant } = proposal
      await resolveClaim(proposal, verdict)
      // A ticket that ran is done. One that did not run may run until its time is up.
      const live = await ticketStore.readState(id)
      const status = verdict === 'ran' ? 'done' : 'approved'
      if (live?.state.status === 'running') await ticketStore.transition(id, live, { ...live.state, status })
      record(tenant, 'resolved', { ticket: id, by: by.subject, via: by.via, verdict })
      const view = await viewAfter(proposal)
      notifyChange(id, view.status)
      return view
    },
    acceptsWebhook: webhook?.acceptsDecisions === true,
    async handleWebhook(header, body) {
      if (!webhook) throw new RpcError('forbidden', 'No webhook is configured here')
      return webhook.handleWebhook(header, body)
    },
    watch,
    rules: policy.views,
    verdict: policy.verdict,
    ...{ grants, ticketStore, time, policy, approver, maxPending, times, urlOf, notifyChange },
    commandOf: (id) => options.command?.(id),
    async voidTicket(proposal, from) {
      const { id, tenant, digest } = proposal
      await time.advance()
      if (!(await ticketStore.transition(id, from, { ...from.state, status: 'void' }))) return false
      await ticketStore.removeFromPending(proposal)
      record(tenant, 'void', { ticket: id, digest })
      notifyChange(id, 'void')
      return true
    },
    announce: async (proposal) => webhook?.enqueue(proposal),
    async ready() {
      const doubts = (await store.checkDurability?.()) ?? []
      for (const message of doubts) logger.warn({ event: 'approvalsStore', message })
      webhook?.start()
    },
    close() {
      time.close()
      webhook?.close()
    },
  }
}

type CurrentStatus = Pick<TicketView, 'status' | 'decisions' | 'runUntil'>

const isTicketChange = (value: unknown): value is TicketChange => isObject(value) && typeof value['id'] === 'string'
