/** Reads a ticket as it is now. The record that the idempotency layer keeps says what became of its run. */

import type { RunOutcome } from '../core/idempotency-record.ts'
import { isStillRunning, outcomeOfRecord, parseIdempotencyRecord, recordKey } from '../core/idempotency-record.ts'
import { isObject } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import type { ApprovalsService } from './service.ts'
import type { Proposal, TicketView } from './ticket.ts'
import type { TicketStore, VersionedState } from './ticket-store.ts'
import type { ApprovalTime } from './time.ts'

export type TicketClaim =
  /** No record exists. The ticket was never spent, or its record has expired. */
  | { readonly state: 'none' }
  /** The claim was released before anything ran, or an operator resolved it as not run. */
  | { readonly state: 'free' }
  | { readonly state: 'started'; readonly inDoubt: boolean; readonly settled: RunOutcome }
  | { readonly state: 'done'; readonly status: 'done' | 'failed' | 'void'; readonly settled: RunOutcome }

type Claimable = Pick<Proposal, 'id' | 'tenant' | 'caller'>

async function readRecord(serverStore: Store, { id, tenant, caller }: Claimable) {
  const text = await serverStore.get(recordKey(tenant, caller.subject, { ticket: id }))
  return text === undefined ? undefined : parseIdempotencyRecord(text)
}

/** Returns the claim of a ticket. `serverStore` is the part of the store that belongs to the ticket's server. */
export async function claimOf(serverStore: Store, ticket: Claimable): Promise<TicketClaim> {
  const record = await readRecord(serverStore, ticket)
  if (!record) return { state: 'none' }
  if (record.state === 'free') return { state: 'free' }
  const isRunning = await isStillRunning(serverStore, record)
  const settled = outcomeOfRecord(record, record, isRunning)
  if (record.state === 'started') return { state: 'started', inDoubt: !isRunning, settled }
  const failed = record.failure !== undefined || record.answer?.isError === true
  const status = record.failure?.reason === 'approvalVoid' ? 'void' : failed ? 'failed' : 'done'
  return { state: 'done', status, settled }
}

/** The part of the store where the idempotency layer of a server keeps its claims. */
export const storeOfServer = (store: Store, name: string): Store => prefixed(store, ['server', name])

export interface TicketReader extends Pick<ApprovalsService, 'get' | 'result'> {
  /** Returns the ticket as it is now. `undefined` if it was never added. */
  view(proposal: Proposal): Promise<TicketView | undefined>
}

type CurrentStatus = Pick<TicketView, 'status' | 'decisions' | 'runUntil' | 'withdrawn' | 'questions'>

export function createTicketReader(
  store: Store,
  ticketStore: TicketStore,
  time: ApprovalTime,
  urlOf: (id: string) => string | undefined,
): TicketReader {
  async function statusOf(proposal: Proposal): Promise<CurrentStatus | undefined> {
    const live = await ticketStore.readState(proposal.id)
    const found = live && (await statusFrom(proposal, live))
    const { questions, withdrawn } = live?.state ?? {}
    return found && { ...found, ...(withdrawn && { withdrawn }), ...(questions && { questions }) }
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
    const claim = await claimOf(storeOfServer(store, proposal.server), proposal)
    if (claim.state === 'done') return { status: claim.status, decisions }
    if (claim.state === 'started' && !claim.inDoubt) return { status: 'running', decisions }
    // Its claim does not matter, because it was not spent: the state is written right before the work.
    if (status === 'approved') return { status: unused, decisions, ...(unused === 'approved' && { runUntil: until }) }
    if (claim.state !== 'free') return { status: 'in doubt', decisions }
    return { status: unused === 'running' ? 'approved' : unused, decisions }
  }
  async function previousOf(id: string): Promise<TicketView['previous']> {
    const proposal = await ticketStore.readProposal(id)
    const found = proposal && (await statusOf(proposal))
    return found && { id, arguments: proposal.arguments, status: found.status }
  }
  async function view(proposal: Proposal): Promise<TicketView | undefined> {
    const { binding: _, slot: _1, epoch: _2, sequence: _3, previous, ...shown } = proposal
    const [status, before] = await Promise.all([
      statusOf(proposal),
      previous === undefined ? undefined : previousOf(previous),
    ])
    if (!status) return undefined
    const url = urlOf(proposal.id)
    return { ...shown, ...status, ...(before && { previous: before }), ...(url !== undefined && { url }) }
  }
  return {
    view,
    async get(id) {
      const proposal = await ticketStore.readProposal(id)
      return proposal && view(proposal)
    },
    async result(id) {
      const proposal = await ticketStore.readProposal(id)
      const record = proposal && (await readRecord(storeOfServer(store, proposal.server), proposal))
      if (record?.state !== 'done') return undefined
      const { startedAt, endedAt } = (await ticketStore.readState(id))?.state ?? {}
      const duration = startedAt !== undefined && endedAt !== undefined && { durationMs: endedAt - startedAt }
      const { failure, answer } = record
      if (failure) return { text: failure.message, isError: true, ...duration }
      return answer && { text: contentText(answer), isError: answer['isError'] === true, ...duration }
    },
  }
}

/** The answer of a run, as text. */
export interface RunResult {
  readonly text: string
  readonly isError: boolean
  /** How long the run took. Absent if the process ended before it was recorded. */
  readonly durationMs?: number
}

/** Joins the text blocks. Other content is named by its type. */
function contentText(answer: { readonly [field: string]: unknown }): string {
  const { content } = answer
  if (!Array.isArray(content)) return JSON.stringify(answer)
  return content
    .map((block: unknown) => {
      if (!isObject(block)) return ''
      return typeof block['text'] === 'string' ? block['text'] : `(${String(block['type'])})`
    })
    .join('\n')
}
