/** Tickets and grants for one operator. */

import { RpcError } from 'sluice'
import type { ApprovalsService, Decider, Grant as Granted, TicketView } from 'sluice/approvals'
import { mayDecide, mayTakeBack } from 'sluice/internal'
import type { GrantSummary, Operator, RouteInput, RouteOutput, Ticket, TicketSummary } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'
import type { ConsoleCaller } from './handlers.ts'
import { hintsOf } from './tools.ts'

const pageSize = 50

export async function listTickets(
  consoleState: ConsoleState,
  operator: Operator,
  input: RouteInput<'listTickets'>,
): Promise<RouteOutput<'listTickets'>> {
  const { status, tenant, tool, limit = pageSize } = input
  const pending = await consoleState.countPending(operator.tenants)
  const approvals = consoleState.approvals
  if (!approvals) return { tickets: [], pending }
  const [onlyTenant] = operator.tenants
  const tenantFilter = tenant ?? (operator.tenants.length === 1 ? onlyTenant : undefined)
  const query = {
    limit,
    ...(status && { status }),
    ...(tool !== undefined && { tool }),
    ...(tenantFilter !== undefined && { tenant: tenantFilter }),
  }
  const tickets: TicketSummary[] = []
  let after = input.after
  const matches = ticketFilter(input)
  // Tickets of other tenants are filtered out here, so a page may need several reads.
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    const page = await approvals.list({
      ...query,
      limit: limit - tickets.length,
      ...(after !== undefined && { after }),
    })
    for (const view of page.tickets)
      if (isVisible(view, operator) && matches(view)) tickets.push(toSummary(view, operator))
    after = page.next
    if (after === undefined || tickets.length >= limit) break
  }
  return { tickets, pending, ...(after !== undefined && { next: after }) }
}

/** The number of reads for one page. A filter that matches few tickets is continued by the next page. */
const maxRounds = 10

function ticketFilter({ server, caller, text = '' }: RouteInput<'listTickets'>): (view: TicketView) => boolean {
  const needle = text.trim().toLowerCase()
  const isFound = (view: TicketView): boolean =>
    [view.tool, view.title, view.server, view.tenant, view.caller.subject, view.arguments, JSON.stringify(view.effect)]
      .join('\n')
      .toLowerCase()
      .includes(needle)
  return (view) =>
    (server === undefined || view.server === server) &&
    (caller === undefined || view.caller.subject === caller) &&
    (needle === '' || isFound(view))
}

export async function getTicket(consoleState: ConsoleState, operator: Operator, id: string): Promise<Ticket> {
  return toTicket((await viewOf(consoleState, operator, id)).view, operator)
}

/** Reads a ticket. Tickets of tenants that the operator may not see do not exist. */
export async function viewOf(
  { approvals }: ConsoleState,
  operator: Operator,
  id: string,
): Promise<{ readonly approvals: ApprovalsService; readonly view: TicketView }> {
  const view = await approvals?.get(id)
  if (!approvals || !view || !isVisible(view, operator))
    throw new RpcError('resourceNotFound', 'This ticket does not exist')
  return { approvals, view }
}

export async function decideTicket(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'decideTicket'>,
): Promise<Ticket> {
  const { operator } = caller
  const { approvals, view } = await viewOf(consoleState, operator, input.id)
  if (view.digest !== input.digest)
    throw new RpcError('conflict', 'This ticket differs from the one you were shown: reload it')
  const decision = { approved: input.approved, ...(input.note !== undefined && { note: input.note }) }
  return toTicket(await approvals.decide(view.id, decision, deciderOf(caller)), operator)
}

export async function takeBackTicket(consoleState: ConsoleState, caller: ConsoleCaller, id: string): Promise<Ticket> {
  const { approvals, view } = await viewOf(consoleState, caller.operator, id)
  return toTicket(await approvals.takeBack(view.id, deciderOf(caller)), caller.operator)
}

export async function resolveTicket(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'resolveTicket'>,
): Promise<Ticket> {
  const { approvals, view } = await viewOf(consoleState, caller.operator, input.id)
  return toTicket(await approvals.resolve(view.id, input.verdict, deciderOf(caller)), caller.operator)
}

const deciderOf = ({ operator }: Pick<ConsoleCaller, 'operator'>): Decider => ({
  subject: operator.name,
  via: 'console',
  tenants: operator.tenants.length === 0 ? 'all' : operator.tenants,
  operator: operator.scopes.includes('approvals:decide'),
})

export async function listGrants(
  { approvals }: ConsoleState,
  operator: Operator,
  { after }: RouteInput<'listGrants'>,
): Promise<RouteOutput<'listGrants'>> {
  if (!approvals) return { grants: [], longestMs: 0 }
  const { maxMs: longestMs } = approvals.grants
  const { grants, next } = await approvals.grants.list({
    limit: pageSize,
    ...(operator.tenants.length > 0 && { tenants: operator.tenants }),
    ...(after !== undefined && { after }),
  })
  return { grants: grants.map(toGrant), longestMs, ...(next !== undefined && { next }) }
}

/** Creates a grant for calls like the ticket's. It is valid while the definition of the tool does not change. */
export async function createGrant(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'createGrant'>,
): Promise<GrantSummary> {
  const { approvals, view } = await viewOf(consoleState, caller.operator, input.id)
  const note = input.note !== undefined && { note: input.note }
  const grant = { ticket: view.id, arguments: input.arguments, durationMs: input.lastMs, ...note }
  return toGrant(await approvals.grants.create(grant, deciderOf(caller)))
}

const toGrant = ({ arguments: scope, createdBy, note, ...grant }: Granted): GrantSummary => ({
  id: grant.id,
  server: grant.server,
  tenant: grant.tenant,
  caller: grant.caller,
  tool: grant.tool,
  arguments: scope === 'any' ? 'any' : excerptOf(JSON.stringify(scope), grantExcerptChars),
  by: createdBy,
  createdAt: grant.createdAt,
  expiresAt: grant.expiresAt,
  ...(note !== undefined && { note }),
})

export async function revokeGrant(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  id: string,
): Promise<Record<never, never>> {
  if (!(await consoleState.approvals?.grants.revoke(id, deciderOf(caller))))
    throw new RpcError('resourceNotFound', 'This grant does not exist')
  return {}
}

const isVisible = ({ tenant }: { readonly tenant: string }, { tenants }: Operator): boolean =>
  tenants.length === 0 || tenants.includes(tenant)

/** A list has only excerpts, because fifty whole tickets with their arguments could be megabytes. */
const ticketExcerptChars = 160
const grantExcerptChars = 1_000

function excerptOf(text: string, max: number): string {
  // Removes a lone surrogate at the cut.
  return text.length <= max ? text : `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function toSummary(view: TicketView, operator: Operator): TicketSummary {
  const { id, server, tenant, caller, tool, title, digest, status, decisions, createdAt, expiresAt, effect = {} } = view
  const text = [...Object.entries(effect).map(([label, value]) => `${label}: ${value}`), view.arguments]
  return {
    ...{ id, server, tenant, tool, digest, status, createdAt, expiresAt },
    caller: caller.subject,
    ...(title !== undefined && { title }),
    hints: hintsOf(view.annotations),
    excerpt: excerptOf(text.join(' · '), ticketExcerptChars),
    decided: decisions.length,
    needed: view.needed,
    ...keyOf(view),
    mayDecide: canDecide(view, operator),
  }
}

function toTicket(view: TicketView, operator: Operator): Ticket {
  const { id, server, tenant, caller, tool, title, description, digest, definition, status, approver, needed } = view
  return {
    ...{ id, server, tenant, tool, description, digest, definition, status, approver, needed },
    caller: caller.subject,
    ...(caller.client !== undefined && { client: caller.client }),
    ...(title !== undefined && { title }),
    hints: hintsOf(view.annotations),
    ...(view.effect && {
      effect: Object.entries(view.effect).map(([label, value]) => ({ label, value: String(value) })),
    }),
    arguments: view.arguments,
    answers: view.answers,
    ...(view.of && { of: view.of }),
    ...(view.rule !== undefined && { rule: view.rule }),
    decisions: view.decisions,
    ...(view.questions && {
      questions: view.questions.map(({ question, answer }) => ({ question, ...(answer !== undefined && { answer }) })),
    }),
    ...(view.task !== undefined && { task: view.task }),
    createdAt: view.createdAt,
    expiresAt: view.expiresAt,
    ...(view.withdrawn && { withdrawn: view.withdrawn }),
    ...(view.runUntil !== undefined && { runUntil: view.runUntil }),
    ...keyOf(view),
    mayDecide: canDecide(view, operator),
    mayTakeBack: mayTakeBack(view, operator.name) && mayDecide('deny', view, deciderOf({ operator })),
    ...(view.previous && { previous: view.previous }),
  }
}

/** The id of the API key, which an operator may revoke. Other credentials end elsewhere. */
function keyOf({ caller }: TicketView): { readonly key?: string } {
  const [, key] = /^key (\w+)$/.exec(caller.credential) ?? []
  return key === undefined ? {} : { key }
}

/** Decides which buttons the page shows. The decision itself is checked again. */
function canDecide(view: TicketView, operator: Operator): boolean {
  const { status, decisions } = view
  if (status !== 'pending' || decisions.some(({ by }) => by === operator.name)) return false
  return mayDecide('approve', view, deciderOf({ operator }))
}
