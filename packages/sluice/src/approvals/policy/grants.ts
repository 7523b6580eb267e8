/**
 * Grants: "always allow" with limits. A grant is for one caller of one tenant, one tool as it is defined now, and named
 * arguments, and it expires. Grants are off by default. They are listed, and a revocation takes effect at once.
 */

import { digest } from '../../core/digest.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { Key, Store } from '../../core/store.ts'
import type { Effect } from '../../core/target.ts'
import type { Decider } from '../decide.ts'
import { checkDecider, invalidTicket } from '../decide.ts'
import { isSameEffect } from '../effect.ts'
import type { Proposal } from '../ticket.ts'
import type { TicketStore } from '../ticket-store.ts'
import type { ApprovalTime } from '../time.ts'

/** The arguments a grant covers: exactly the ticket's, all that include these members, or any. */
export type GrantArguments = 'exactly' | { readonly including: Params } | 'any'

/** A request for a grant that covers calls like that of a ticket. */
export interface NewGrant {
  /** The ticket's id. The grant takes its tenant, caller, server, tool, definition, answers and effect. */
  readonly ticket: string
  readonly arguments: GrantArguments
  /** The duration in milliseconds. */
  readonly durationMs: number
  readonly note?: string
}
/** A standing permission. Calls it covers run without a ticket until it expires. */
export interface Grant {
  readonly id: string
  readonly tenant: string
  /** The caller's subject. */
  readonly caller: string
  readonly server: string
  readonly tool: string
  /** A hash of the tool's definition and rule when the grant was given. Any change ends the grant. */
  readonly definition: string
  readonly arguments: { readonly exactly: Params } | { readonly including: Params } | 'any'
  /** The answers to the tool's questions, as RFC 8785 text. Other answers are not covered. */
  readonly answers: string
  /** The effect of the ticket's call. A call with another effect is not covered. */
  readonly effect?: Effect
  readonly expiresAt: number
  readonly note?: string
  readonly createdAt: number
  readonly createdBy: string
  /** The store's epoch when it was given. Otherwise a revoked grant would return with a restored copy of the store. */
  readonly epoch: string
}

/** Turns grants on. */
export interface GrantsOptions {
  /** The maximum duration of a grant. */
  readonly maxMs: number
}

/** Lists, creates and revokes standing permissions. */
export interface Grants {
  /** The maximum duration of a grant; 0 if grants are off. */
  readonly maxMs: number
  list(query?: GrantQuery): Promise<{ readonly grants: readonly Grant[]; readonly next?: string }>
  /** Throws `forbidden` if grants are off or `by` may not grant this, and `conflict` if another person denied it. */
  create(grant: NewGrant, by: Decider): Promise<Grant>
  /** Ends a grant from the next call on. `false` if it does not exist or has expired. */
  revoke(id: string, by: Decider): Promise<boolean>
}
/** Filters grants. By default all are listed. */
export interface GrantQuery {
  /** Only grants of these tenants; by default of all. A cursor never names another tenant. */
  readonly tenants?: readonly string[]
  readonly after?: string
  readonly limit?: number
}

const root = 'approvals'
/** The maximum per caller and tool. Each gated call reads all of them, and more would be a mistake anyway. */
const maxPerTool = 100
const pageSize = 50

export interface GrantsDeps {
  readonly store: Store
  readonly ticketStore: Pick<TicketStore, 'readProposal' | 'readState'>
  readonly time: ApprovalTime
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

/** The fields of a call that a grant is compared with. */
export type CoverableCall = Pick<
  Proposal,
  'tenant' | 'caller' | 'server' | 'tool' | 'definition' | 'answers' | 'effect'
>

export interface GrantRegistry extends Grants {
  /** Returns the grant that lets this call run without a ticket, or `undefined`. */
  findCovering(call: CoverableCall, args: unknown): Promise<Grant | undefined>
}

export function createGrants(
  { store, ticketStore, time, record }: GrantsDeps,
  options: GrantsOptions | undefined,
): GrantRegistry {
  /** The id contains the key, so that a revocation needs no search. The id is not a secret. */
  const keyOf = (id: string): Key => [root, 'grant', ...idParts(id)]
  const prefixOf = (tenant: string, caller: string, server: string, tool: string): Key => [
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
      const prefixes: readonly Key[] = tenants?.map((tenant) => [root, 'grant', tenant]) ?? [[root, 'grant']]
      const hasCursor = (prefix: Key): boolean => prefix.every((segment, index) => from?.[index] === segment)
      const grants: Grant[] = []
      for (const prefix of prefixes.slice(Math.max(0, prefixes.findIndex(hasCursor)))) {
        const page = { limit: limit - grants.length, ...(from && hasCursor(prefix) && { after: from }) }
        for (const { value } of await store.list(prefix, page)) grants.push(JSON.parse(value) as Grant)
        if (grants.length === limit)
          return { grants: grants.filter(isInForce(at, epoch)), next: grants.at(-1)?.id ?? '' }
      }
      return { grants: grants.filter(isInForce(at, epoch)) }
    },
    async create({ ticket, arguments: scope, durationMs, note }, by) {
      if (!options) throw new RpcError('forbidden', 'Grants are off on this server')
      const proposal = await ticketStore.readProposal(ticket)
      if (!proposal) throw invalidTicket()
      checkDecider('grant', proposal, by)
      if (proposal.needed > 1)
        throw new RpcError(
          'forbidden',
          `No grant is possible: ${proposal.needed} people must approve each of these calls`,
        )
      const { at, epoch } = await time.now()
      if (!(durationMs > 0) || durationMs > options.maxMs)
        throw new RpcError('invalidParams', `"durationMs" of a grant must be more than 0 and at most ${options.maxMs}`)
      await refuseDenied(ticket, by)
      const { tenant, caller, server, tool, definition, answers, effect } = proposal
      const prefix = prefixOf(tenant, caller.subject, server, tool)
      const others = await store.list(prefix, { limit: maxPerTool })
      if (others.length >= maxPerTool)
        throw new RpcError('rateLimited', `This caller has ${maxPerTool} grants for this tool already: revoke some`)
      const id = [...prefix.slice(2), crypto.randomUUID()].map(encodeURIComponent).join('~')
      const grant: Grant = {
        ...{ id, tenant, caller: caller.subject, server, tool, definition, answers },
        ...(effect && { effect }),
        arguments: argumentsOf(scope, proposal),
        expiresAt: at + durationMs,
        ...(note !== undefined && { note: note.slice(0, 1000) }),
        createdAt: at,
        createdBy: by.subject,
        epoch,
      }
      await store.set(keyOf(id), JSON.stringify(grant), durationMs)
      const entry = { grant: id, ticket: proposal.id, by: by.subject, via: by.via, tool, caller: caller.subject }
      record(tenant, 'granted', entry)
      return grant
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
      // The mark moves first, so that a restored copy of the store that still holds the grant is recognized as a copy.
      await time.advance()
      await store.delete(keyOf(id))
      record(tenant, 'revoked', { grant: id, by: by.subject, via: by.via, tool })
      return true
    },
    async findCovering({ tenant, caller, server, tool, definition, answers, effect }, args) {
      if (!options) return undefined
      const entries = await store.list(prefixOf(tenant, caller.subject, server, tool), { limit: maxPerTool })
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

  /** Refuses a grant over another person's denial, so that a denial cannot be bypassed by asking a second person. */
  async function refuseDenied(ticket: string, by: Decider): Promise<void> {
    const live = await ticketStore.readState(ticket)
    const denial = live?.state.decisions.find(({ approved }) => !approved)
    if (denial && denial.by !== by.subject)
      throw new RpcError('conflict', `No grant is possible: ${denial.by} denied this call`, {
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

function argumentsOf(scope: GrantArguments, proposal: Proposal): Grant['arguments'] {
  if (scope === 'any') return 'any'
  const args: unknown = JSON.parse(proposal.arguments)
  if (scope === 'exactly' && isObject(args)) return { exactly: args }
  const isNamed = isObject(scope) && isObject(scope['including']) && Object.keys(scope['including']).length > 0
  if (!isNamed || !coversArguments(scope, args))
    throw new RpcError(
      'invalidParams',
      'Invalid "arguments" of a grant: use "exactly", { including } some of the ticket\'s arguments, or "any"',
    )
  return { including: scope.including }
}

function coversArguments(scope: Grant['arguments'], args: unknown): boolean {
  if (scope === 'any') return true
  if (!isObject(args)) return false
  if ('exactly' in scope) return digest(scope.exactly) === digest(args)
  return Object.entries(scope.including).every(
    ([name, value]) => Object.hasOwn(args, name) && digest([args[name]]) === digest([value]),
  )
}
