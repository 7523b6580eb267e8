/**
 * What people and their tools do with tickets: the console, the command, the webhook and `approval/respond` all go
 * through here, so that there is one place where a decision is made and checked.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { resolveInDoubt } from '../core/once-record.ts'
import type { Store } from '../core/store.ts'
import { below } from '../core/store.ts'
import { claimOf } from './claim.ts'
import type { Decider } from './deciding.ts'
import { checkDecider, invalidTicket, maySee } from './deciding.ts'
import type { GrantDesk, Grants, GrantsOptions } from './grants.ts'
import { createGrants } from './grants.ts'
import type { Rule, Rules, RuleView } from './rules.ts'
import { createRules } from './rules.ts'
import type { Live, Shelf } from './shelf.ts'
import { createShelf } from './shelf.ts'
import type { Approver, Decision, Proposal, State, TicketStatus, TicketView } from './ticket.ts'

export interface Desk {
  /** Undecided ones first, by age, then the rest, newest first. A page at a time: there may be ten thousand. */
  list(query?: TicketQuery): Promise<{ readonly tickets: readonly TicketView[]; readonly next?: string }>
  get(id: string): Promise<TicketView | undefined>
  /**
   * One atomic step: of all who decide at once, one does. Throws an `RpcError`: `approvalInvalid` where there is no such
   * ticket for `by` or its time is up, `forbidden` where `by` may not, `conflict` where it is decided.
   */
  decide(id: string, decision: { readonly approved: boolean; readonly note?: string }, by: Decider): Promise<TicketView>
  /** Somebody found out what became of a ticket in doubt. `did not run`: it may, while its time is not up. */
  resolve(id: string, verdict: 'ran' | 'did not run', by: Decider): Promise<TicketView>
  /** Hears of every change, whichever process made it. It only wakes: `get` has the truth. */
  watch(listener: (change: TicketChange) => void): () => void
  readonly rules: readonly RuleView[]
  readonly grants: Grants
}

export interface TicketQuery {
  readonly tenant?: string
  readonly status?: TicketStatus
  readonly tool?: string
  /** `next` of the page before. */
  readonly after?: string
  readonly limit?: number
}
export interface TicketChange {
  readonly id: string
  readonly status: TicketStatus
}

export interface DeskOptions {
  /** The operator's, before what a tool says itself; the first that matches decides. */
  readonly rules?: readonly Rule[]
  readonly approver?: Approver
  /** Where the console is: a ticket's page is `<url>/approvals/<id>`. A function where it is known only later. */
  readonly url?: string | (() => string | undefined)
  /** Allows grants, up to this long. Off unless said: each is a standing permission. */
  readonly grants?: GrantsOptions
  /** How long a person has to decide, and how long a denial holds: ten minutes. */
  readonly decideMs?: number
  /** How long the caller has to run what was approved: ten minutes. */
  readonly runMs?: number
  /** How long tickets, with their arguments, can be looked up: a week. */
  readonly keepMs?: number
  /** Undecided tickets of one caller; more are refused, so that nobody can bury a request among others: 20. */
  readonly maxPending?: number
}

/** What a desk works with; a server's surroundings have it all. */
export interface DeskAround {
  readonly store: Store
  readonly bus: Bus
  readonly clock: Clock
  /** Into the audit, where there is one. Values, never arguments. */
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

/** The desk and what the gate shares with it. */
export interface Office extends Desk {
  readonly shelf: Shelf
  readonly policy: Rules
  readonly grants: GrantDesk
  readonly approver: Approver
  readonly maxPending: number
  readonly decideMs: number
  urlOf(id: string): string | undefined
  /** What it is now, with what `once` knows about it. */
  statusOf(proposal: Proposal, live: Live | undefined): Promise<Status>
  /** Tells whoever watches. */
  changed(id: string, status: TicketStatus): void
}
export interface Status {
  readonly status: TicketStatus
  readonly decisions: readonly Decision[]
}

const minute = 60_000
const day = 24 * 60 * minute
const channel = 'approvals'
const pageSize = 50
const largestPage = 200
/** Looked at for one page where a filter lets little through; the next page goes on from there. */
const maxLooked = 2000
const maxNote = 1000

export function createOffice({ store, bus, clock, record }: DeskAround, options: DeskOptions = {}): Office {
  const { decideMs = 10 * minute, runMs = 10 * minute, keepMs = 7 * day, maxPending = 20, url } = options
  const { approver = 'owner' } = options
  const shelf = createShelf(store, { decideMs, runMs, keepMs })
  const policy = createRules(options.rules)
  const grants = createGrants({ store, clock, record }, options.grants)
  const serverStore = (name: string): Store => below(store, ['server', name])

  function urlOf(id: string): string | undefined {
    const base = typeof url === 'function' ? url() : url
    return base === undefined ? undefined : `${base.replace(/\/+$/, '')}/approvals/${encodeURIComponent(id)}`
  }
  /** Nobody waits for it, and who misses it finds the truth in the store. */
  function changed(id: string, status: TicketStatus): void {
    bus.publish(channel, JSON.stringify({ id, status } satisfies TicketChange)).catch(() => {})
  }

  async function statusOf(proposal: Proposal, live: Live | undefined): Promise<Status> {
    const { id } = proposal
    if (!live) {
      const last = await shelf.last(id)
      return { status: afterwards(last?.status), decisions: last?.decisions ?? [] }
    }
    const { status, decisions } = live.state
    if (status === 'pending' && proposal.needed > 1) return { status, decisions: await shelf.votes(id) }
    if (status !== 'running') return { status, decisions }
    const claim = await claimOf(serverStore(proposal.server), proposal, clock)
    if (claim.state === 'started') return { status: claim.inDoubt ? 'in doubt' : 'running', decisions }
    if (claim.state === 'done') return { status: claim.failed ? 'failed' : 'done', decisions }
    return { status: (await shelf.isOpen(id)) ? 'approved' : 'expired', decisions }
  }

  async function viewOf(proposal: Proposal): Promise<TicketView> {
    const { binding: _, slot: _1, previous, ...shown } = proposal
    const [status, before] = await Promise.all([
      shelf.live(proposal.id).then((live) => statusOf(proposal, live)),
      previous === undefined ? undefined : previousOf(previous),
    ])
    const at = urlOf(proposal.id)
    return { ...shown, ...status, ...(before && { previous: before }), ...(at !== undefined && { url: at }) }
  }
  async function previousOf(id: string): Promise<TicketView['previous']> {
    const proposal = await shelf.proposal(id)
    if (!proposal) return undefined
    const { status } = await statusOf(proposal, await shelf.live(id))
    return { id, arguments: proposal.arguments, status }
  }

  async function get(id: string): Promise<TicketView | undefined> {
    const proposal = await shelf.proposal(id)
    return proposal && viewOf(proposal)
  }

  /** `open` first, then `all` without what `open` has shown. */
  async function list(query: TicketQuery = {}): ReturnType<Desk['list']> {
    const { tenant, status, tool, after, limit = pageSize } = query
    const size = Math.min(Math.max(1, limit), largestPage)
    const tickets: TicketView[] = []
    let [which, place] = parseCursor(after, status)
    for (let looked = 0; ; ) {
      const entries = await shelf.index(which, size, place)
      for (const entry of entries) {
        place = entry.at
        looked++
        if ((tenant !== undefined && entry.tenant !== tenant) || (tool !== undefined && entry.tool !== tool)) continue
        const view = await get(entry.id)
        if (which === 'open' && view?.status !== 'pending') await shelf.unindex(entry.at)
        const fits = which === 'open' ? view?.status === 'pending' : view?.status !== 'pending'
        if (view && fits && (status === undefined || view.status === status)) tickets.push(view)
        if (tickets.length === size) return { tickets, next: `${which}.${place}` }
      }
      if (entries.length < size) {
        if (which === 'all' || status === 'pending') return { tickets }
        which = 'all'
        place = undefined
      } else if (looked >= maxLooked) return { tickets, next: `${which}.${place ?? ''}` }
    }
  }

  async function decide(
    id: string,
    { approved, note }: Parameters<Desk['decide']>[1],
    by: Decider,
  ): Promise<TicketView> {
    const proposal = await shelf.proposal(id)
    if (!proposal) throw invalidTicket()
    const { tenant, digest } = proposal
    const said = { ticket: id, by: by.subject, via: by.via, approved, digest }
    try {
      checkDecider(proposal, by)
    } catch (thrown) {
      record(tenant, 'decisionRefused', { ...said, reason: thrown instanceof RpcError ? thrown.reason : '' })
      throw thrown
    }
    const decision: Decision = {
      by: by.subject,
      via: by.via,
      at: clock.now(),
      approved,
      ...(note !== undefined && note !== '' && { note: note.toWellFormed().slice(0, maxNote) }),
    }
    for (;;) {
      const live = await shelf.live(id)
      if (!live) throw invalidTicket()
      const { state } = live
      if (state.status !== 'pending') {
        // The acknowledgement was lost, and they say it again.
        if (state.decisions.some((made) => made.by === by.subject && made.approved === approved)) break
        throw new RpcError('conflict', `This was decided before: it is ${state.status}`, {
          data: { state: state.status },
        })
      }
      const decisions = await collect(proposal, decision)
      const enough = !approved || decisions.length >= proposal.needed
      if (!enough || (await settle(proposal, live, approved, decisions))) {
        record(tenant, 'decided', { ...said, decisions: decisions.length, needed: proposal.needed })
        changed(id, enough ? (approved ? 'approved' : 'denied') : 'pending')
        break
      }
      // Somebody else was quicker: look again.
    }
    return viewOf(proposal)
  }
  /** Where several are needed each is kept by itself, one for each person, and no one's time begins anew. */
  async function collect({ id, needed }: Proposal, decision: Decision): Promise<readonly Decision[]> {
    if (needed === 1) return [decision]
    if (!decision.approved) return [...(await shelf.votes(id)), decision]
    return shelf.vote(id, decision)
  }
  async function settle(
    proposal: Proposal,
    live: Live,
    approved: boolean,
    decisions: State['decisions'],
  ): Promise<boolean> {
    const { id } = proposal
    if (approved) await shelf.open(id)
    const to: State = { status: approved ? 'approved' : 'denied', decisions }
    if (!(await shelf.move(id, live, to, approved ? runMs : decideMs))) return false
    await Promise.all([shelf.settle(proposal), approved && shelf.approved(proposal)])
    return true
  }

  return {
    list,
    get,
    decide,
    async resolve(id, verdict, by) {
      const proposal = await shelf.proposal(id)
      if (!proposal || !maySee(proposal, by)) throw invalidTicket()
      if (!by.operator || by.via === 'protocol')
        throw new RpcError('forbidden', 'This needs the right approvals:decide')
      const { tenant, caller, server } = proposal
      const name = { ticket: id }
      const found = await resolveInDoubt(serverStore(server), clock, { tenant, subject: caller.subject, name }, verdict)
      if (found !== 'resolved') throw new RpcError('conflict', `This ticket is ${found}`, { data: { state: found } })
      record(tenant, 'resolved', { ticket: id, by: by.subject, via: by.via, verdict })
      const view = await viewOf(proposal)
      changed(id, view.status)
      return view
    },
    watch: (listener) =>
      bus.subscribe(channel, (message) => {
        const change: unknown = JSON.parse(message)
        if (isObject(change) && typeof change['id'] === 'string') listener(change as unknown as TicketChange)
      }),
    rules: policy.views,
    ...{ grants, shelf, policy, approver, maxPending, decideMs, urlOf, statusOf, changed },
  }
}

/** What a ticket is when its time is up. */
function afterwards(status: State['status'] | undefined): TicketStatus {
  if (status === 'running') return 'in doubt'
  return status === undefined || status === 'pending' || status === 'approved' ? 'expired' : status
}

/** A cursor that is not ours begins anew. */
function parseCursor(
  after: string | undefined,
  status: TicketStatus | undefined,
): ['open' | 'all', string | undefined] {
  const [which, ...place] = after?.split('.') ?? []
  if ((which === 'open' || which === 'all') && place.length === 2) return [which, place.join('.')]
  return [status === undefined || status === 'pending' ? 'open' : 'all', undefined]
}
