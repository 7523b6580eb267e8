/**
 * "Always allow", said out loud: for one caller of one tenant and one tool as it is defined now, for arguments that are
 * named, until a date. Off unless the operator turns it on, listed, and revoked at once.
 */

import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Key, Store } from '../core/store.ts'
import type { Effect } from '../core/target.ts'
import type { Decider } from './decide.ts'
import { checkDecider, invalidTicket } from './decide.ts'
import { isSameEffect } from './effect.ts'
import type { Proposal } from './ticket.ts'
import type { TicketStore } from './ticket-store.ts'
import type { ApprovalTime } from './time.ts'

/** Which arguments a grant covers: those of its ticket, any that have these members of it, or any at all. */
export type GrantArguments = 'exactly' | { readonly including: Params } | 'any'

/** A grant somebody wants to give, for calls like that of a ticket. */
export interface NewGrant {
  /** The ticket's id. Its tenant, caller, server, tool, definition, answers and effect are the grant's. */
  readonly ticket: string
  readonly arguments: GrantArguments
  /** For how long, in milliseconds. */
  readonly durationMs: number
  readonly note?: string
}
/** A standing permission: what it covers runs without a ticket until it is over. */
export interface Grant {
  readonly id: string
  readonly tenant: string
  /** The caller's subject. */
  readonly caller: string
  readonly server: string
  readonly tool: string
  /** The tool as it was defined and gated then. Any change ends the grant. */
  readonly definition: string
  readonly arguments: { readonly exactly: Params } | { readonly including: Params } | 'any'
  /** RFC 8785 text of what the person answered to the tool's questions. Other answers are not covered. */
  readonly answers: string
  /** What the ticket's call acted on. A call that acts on anything else is not covered. */
  readonly effect?: Effect
  readonly expiresAt: number
  readonly note?: string
  readonly createdAt: number
  readonly createdBy: string
  /** In which life of the store it was given: one that was revoked comes back with a copy of the store. */
  readonly epoch: string
}

/** Turns grants on. */
export interface GrantsOptions {
  /** The longest a grant may last. */
  readonly maxMs: number
}

/** Standing permissions: who has them, giving and taking them back. */
export interface Grants {
  /** The longest one may last; 0 where grants are off. */
  readonly maxMs: number
  list(query?: GrantQuery): Promise<{ readonly grants: readonly Grant[]; readonly next?: string }>
  /** Throws `forbidden` where grants are off or `by` may not grant this, `conflict` where another person denied it. */
  create(grant: NewGrant, by: Decider): Promise<Grant>
  /** From the next call on. False where there is none, or it is over. */
  revoke(id: string, by: Decider): Promise<boolean>
}
/** Which grants to list; all of them unless said. */
export interface GrantQuery {
  /** Of these; of all unless said. Where the next page begins names no other. */
  readonly tenants?: readonly string[]
  readonly after?: string
  readonly limit?: number
}

const root = 'approvals'
/** One caller and tool with more than this many is a mistake; each gated call looks through them. */
const maxPerTool = 100
const pageSize = 50

export interface GrantsDeps {
  readonly store: Store
  readonly ticketStore: Pick<TicketStore, 'readProposal' | 'readState'>
  readonly time: ApprovalTime
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

/** The call that may be covered. */
export type CoverableCall = Pick<
  Proposal,
  'tenant' | 'caller' | 'server' | 'tool' | 'definition' | 'answers' | 'effect'
>

export interface GrantRegistry extends Grants {
  /** The grant that lets this call run without a ticket. */
  findCovering(call: CoverableCall, args: unknown): Promise<Grant | undefined>
}

export function createGrants(
  { store, ticketStore, time, record }: GrantsDeps,
  options: GrantsOptions | undefined,
): GrantRegistry {
  /** The id says where it lies, so that revoking needs no search; it is no secret. */
  const keyOf = (id: string): Key => [root, 'grant', ...idParts(id)]
  const below = (tenant: string, caller: string, server: string, tool: string): Key => [
    root,
    'grant',
    tenant,
    digest([caller, server, tool]).slice(0, 32),
  ]
  async function read(id: string): Promise<Grant | undefined> {
    const text = await store.get(keyOf(id))
    return text === undefined ? undefined : (JSON.parse(text) as Grant)
  }
  return {
    maxMs: options?.maxMs ?? 0,
    async list({ tenants, after, limit = pageSize } = {}) {
      const { at, epoch } = await time.now()
      const from = after === undefined ? undefined : keyOf(after)
      const places: readonly Key[] = tenants?.map((tenant) => [root, 'grant', tenant]) ?? [[root, 'grant']]
      const isBelow = (place: Key): boolean => place.every((part, at) => from?.[at] === part)
      const grants: Grant[] = []
      for (const place of places.slice(Math.max(0, places.findIndex(isBelow)))) {
        const page = { limit: limit - grants.length, ...(from && isBelow(place) && { after: from }) }
        for (const { value } of await store.list(place, page)) grants.push(JSON.parse(value) as Grant)
        if (grants.length === limit)
          return { grants: grants.filter(isInForce(at, epoch)), next: grants.at(-1)?.id ?? '' }
      }
      return { grants: grants.filter(isInForce(at, epoch)) }
    },
    async create(wanted, by) {
      if (!options) throw new RpcError('forbidden', 'Grants are off on this server')
      const proposal = await ticketStore.readProposal(wanted.ticket)
      if (!proposal) throw invalidTicket()
      checkDecider('grant', proposal, by)
      if (proposal.needed > 1)
        throw new RpcError(
          'forbidden',
          `${proposal.needed} people must approve each of these calls: no grant covers them`,
        )
      const { at, epoch } = await time.now()
      const { durationMs } = wanted
      if (!(durationMs > 0) || durationMs > options.maxMs)
        throw new RpcError('invalidParams', `A grant ends in the future, at most ${options.maxMs} ms from now`)
      await refuseDenied(wanted.ticket, by)
      const { tenant, caller, server, tool, definition, answers, effect } = proposal
      const place = below(tenant, caller.subject, server, tool)
      const others = await store.list(place, { limit: maxPerTool })
      if (others.length >= maxPerTool)
        throw new RpcError('rateLimited', `There are ${maxPerTool} grants for this caller and tool: revoke some`)
      const id = [...place.slice(2), crypto.randomUUID()].map(encodeURIComponent).join('~')
      const made: Grant = {
        ...{ id, tenant, caller: caller.subject, server, tool, definition, answers },
        ...(effect && { effect }),
        arguments: argumentsOf(wanted.arguments, proposal),
        expiresAt: at + durationMs,
        ...(wanted.note !== undefined && { note: wanted.note.slice(0, 1000) }),
        createdAt: at,
        createdBy: by.subject,
        epoch,
      }
      await store.set(keyOf(id), JSON.stringify(made), durationMs)
      const said = { grant: id, ticket: proposal.id, by: by.subject, via: by.via, tool, caller: caller.subject }
      record(tenant, 'granted', said)
      return made
    },
    async revoke(id, by) {
      const grant = await read(id)
      if (!grant) return false
      const { tenant, caller, tool } = grant
      try {
        checkDecider('revoke', { tenant, caller: { subject: caller, credential: '' }, approver: 'owner' }, by)
      } catch (thrown) {
        if (thrown instanceof RpcError && thrown.reason === 'approvalInvalid') return false
        throw thrown
      }
      // Before, so that a copy of the store in which the grant still stands is known for one.
      await time.advance()
      await store.delete(keyOf(id))
      record(tenant, 'revoked', { grant: id, by: by.subject, via: by.via, tool })
      return true
    },
    async findCovering({ tenant, caller, server, tool, definition, answers, effect }, args) {
      if (!options) return undefined
      const entries = await store.list(below(tenant, caller.subject, server, tool), { limit: maxPerTool })
      if (entries.length === 0) return undefined
      const { at, epoch } = await time.now()
      return entries
        .map(({ value }) => JSON.parse(value) as Grant)
        .find(
          (grant) =>
            isInForce(at, epoch)(grant) &&
            grant.tenant === tenant &&
            grant.caller === caller.subject &&
            grant.server === server &&
            grant.tool === tool &&
            grant.definition === definition &&
            grant.answers === answers &&
            isSameEffect(grant.effect, effect) &&
            coversArguments(grant.arguments, args),
        )
    },
  }

  /** A person's no is not to be got round by asking another one for more. */
  async function refuseDenied(ticket: string, by: Decider): Promise<void> {
    const live = await ticketStore.readState(ticket)
    const no = live?.state.decisions.find(({ approved }) => !approved)
    if (no && no.by !== by.subject)
      throw new RpcError('conflict', `This was denied by ${no.by}: no grant is given over that`, {
        data: { state: 'denied' },
      })
  }
}

const isInForce =
  (at: number, epoch: string) =>
  (grant: Grant): boolean =>
    grant.expiresAt > at && grant.epoch === epoch

function idParts(id: string): readonly string[] {
  try {
    return id.split('~').map(decodeURIComponent)
  } catch {
    return [id]
  }
}

function argumentsOf(wanted: GrantArguments, proposal: Proposal): Grant['arguments'] {
  if (wanted === 'any') return 'any'
  const args: unknown = JSON.parse(proposal.arguments)
  if (wanted === 'exactly' && isObject(args)) return { exactly: args }
  const isNamed = isObject(wanted) && isObject(wanted['including']) && Object.keys(wanted['including']).length > 0
  if (!isNamed || !coversArguments(wanted, args))
    throw new RpcError(
      'invalidParams',
      'A grant says for which arguments: "exactly" those of its ticket, { including } some of them, or "any"',
    )
  return { including: wanted.including }
}

function coversArguments(scope: Grant['arguments'], args: unknown): boolean {
  if (scope === 'any') return true
  if (!isObject(args)) return false
  if ('exactly' in scope) return digest(scope.exactly) === digest(args)
  return Object.entries(scope.including).every(
    ([name, value]) => Object.hasOwn(args, name) && digest([args[name]]) === digest([value]),
  )
}
