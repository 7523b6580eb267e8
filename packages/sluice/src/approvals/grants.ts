/**
 * "Always allow", said out loud: for one caller of one tenant and one tool as it is defined now, for arguments that are
 * named, until a date. Off unless the operator turns it on, listed, and revoked at once.
 */

import type { Clock } from '../core/clock.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Key, Store } from '../core/store.ts'
import type { Effect } from '../core/target.ts'
import type { Decider } from './deciding.ts'
import { isSameEffect } from './effect.ts'

/** What a grant covers: one caller, one tool as it is defined now, and which arguments. */
export interface GrantScope {
  readonly tenant: string
  /** The caller's subject. */
  readonly caller: string
  readonly server: string
  /** The whole name: no patterns. */
  readonly tool: string
  /** The tool as it was defined and gated when this was granted; `definition` of a ticket. Any change ends the grant. */
  readonly definition: string
  /** What the call acts on; `effect` of a ticket. A call that acts on anything else is not covered. */
  readonly effect?: Effect
  /** Exactly these, or any that have these members, or, said in so many words, any. */
  readonly arguments: { readonly exactly: Params } | { readonly including: Params } | 'any'
}
/** A grant somebody wants to give. */
export interface NewGrant extends GrantScope {
  readonly expiresAt: number
  readonly note?: string
}
/** A standing permission: what it covers runs without a ticket until it is over. */
export interface Grant extends NewGrant {
  readonly id: string
  readonly createdAt: number
  readonly createdBy: string
}

/** Turns grants on. */
export interface GrantsOptions {
  /** The longest a grant may last. */
  readonly maxMs: number
}

/** Standing permissions: who has them, giving and taking them back. */
export interface Grants {
  /** The longest one may last; 0 where grants are off. */
  readonly longestMs: number
  list(query?: GrantQuery): Promise<{ readonly grants: readonly Grant[]; readonly next?: string }>
  /** Throws `forbidden` where grants are off, or `by` may not grant this. */
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

export interface GrantsAround {
  readonly store: Store
  readonly clock: Clock
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

export interface GrantDesk extends Grants {
  /** The grant that lets this call run without a ticket. */
  covering(scope: Omit<GrantScope, 'arguments'>, args: unknown): Promise<Grant | undefined>
}

export function createGrants({ store, clock, record }: GrantsAround, options: GrantsOptions | undefined): GrantDesk {
  /** The id says where it lies, so that revoking needs no search; it is no secret. */
  const keyOf = (id: string): Key => [root, 'grant', ...idParts(id)]
  const below = ({ tenant, caller, server, tool }: Omit<GrantScope, 'arguments' | 'definition' | 'effect'>): Key => [
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
    longestMs: options?.maxMs ?? 0,
    async list({ tenants, after, limit = pageSize } = {}) {
      const from = after === undefined ? undefined : keyOf(after)
      const places: readonly Key[] = tenants?.map((tenant) => [root, 'grant', tenant]) ?? [[root, 'grant']]
      const isBelow = (place: Key): boolean => place.every((part, at) => from?.[at] === part)
      const grants: Grant[] = []
      for (const place of places.slice(Math.max(0, places.findIndex(isBelow)))) {
        const page = { limit: limit - grants.length, ...(from && isBelow(place) && { after: from }) }
        for (const { value } of await store.list(place, page)) grants.push(JSON.parse(value) as Grant)
        if (grants.length === limit) return { grants, next: grants.at(-1)?.id ?? '' }
      }
      return { grants }
    },
    async create(grant, by) {
      checkGranter(grant, by, options)
      const now = clock.now()
      const lasts = grant.expiresAt - now
      if (!options || !(lasts > 0) || lasts > options.maxMs)
        throw new RpcError('invalidParams', `A grant ends in the future, at most ${options?.maxMs ?? 0} ms from now`)
      const scope = checkedScope(grant)
      const place = below(scope)
      const others = await store.list(place, { limit: maxPerTool })
      if (others.length >= maxPerTool)
        throw new RpcError('rateLimited', `There are ${maxPerTool} grants for this caller and tool: revoke some`)
      const id = [...place.slice(2), crypto.randomUUID()].map(encodeURIComponent).join('~')
      const made: Grant = {
        ...scope,
        expiresAt: grant.expiresAt,
        ...(grant.note !== undefined && { note: grant.note.slice(0, 1000) }),
        id,
        createdAt: now,
        createdBy: by.subject,
      }
      await store.set(keyOf(id), JSON.stringify(made), lasts)
      record(scope.tenant, 'granted', {
        grant: id,
        by: by.subject,
        via: by.via,
        tool: scope.tool,
        caller: scope.caller,
      })
      return made
    },
    async revoke(id, by) {
      const grant = await read(id)
      if (!grant || !(by.tenants === 'all' || by.tenants.includes(grant.tenant))) return false
      // Taking a right away is never the wrong person's to refuse: the caller's own person may, and so may operators.
      if (!by.operator && by.subject !== grant.caller) throw new RpcError('forbidden', 'This is not yours to revoke')
      if (by.via === 'protocol') throw new RpcError('forbidden', 'Grants are not for agents: use the console')
      await store.delete(keyOf(id))
      record(grant.tenant, 'revoked', { grant: id, by: by.subject, via: by.via, tool: grant.tool })
      return true
    },
    async covering(scope, args) {
      if (!options) return undefined
      const entries = await store.list(below(scope), { limit: maxPerTool })
      return entries
        .map(({ value }) => JSON.parse(value) as Grant)
        .find(
          (grant) =>
            grant.expiresAt > clock.now() &&
            grant.tenant === scope.tenant &&
            grant.caller === scope.caller &&
            grant.server === scope.server &&
            grant.tool === scope.tool &&
            grant.definition === scope.definition &&
            isSameEffect(grant.effect, scope.effect) &&
            fits(grant.arguments, args),
        )
    },
  }
}

function idParts(id: string): readonly string[] {
  try {
    return id.split('~').map(decodeURIComponent)
  } catch {
    return [id]
  }
}

function checkGranter(grant: NewGrant, by: Decider, options: GrantsOptions | undefined): void {
  if (!options) throw new RpcError('forbidden', 'Grants are off on this server')
  if (by.via === 'protocol') throw new RpcError('forbidden', 'Grants are not for agents: use the console')
  if (!by.operator) throw new RpcError('forbidden', 'This needs the right approvals:decide')
  if (!(by.tenants === 'all' || by.tenants.includes(grant.tenant)))
    throw new RpcError('forbidden', 'This is not your tenant')
}

/** Only what a grant has: it is written as JSON, and read back as a promise. */
function checkedScope({ tenant, caller, server, tool, definition, effect, arguments: args }: NewGrant): GrantScope {
  for (const [name, value] of Object.entries({ tenant, caller, server, tool, definition }))
    if (typeof value !== 'string' || value === '') throw new RpcError('invalidParams', `A grant names its ${name}`)
  const named =
    args === 'any' ||
    (isObject(args) &&
      (('exactly' in args && isObject(args.exactly)) ||
        ('including' in args && isObject(args.including) && Object.keys(args.including).length > 0)))
  if (!named)
    throw new RpcError('invalidParams', 'A grant says for which arguments: { exactly }, { including }, or "any"')
  if (effect !== undefined && !isObject(effect))
    throw new RpcError('invalidParams', 'The "effect" of a grant is that of its ticket')
  return { tenant, caller, server, tool, definition, ...(effect !== undefined && { effect }), arguments: args }
}

function fits(scope: GrantScope['arguments'], args: unknown): boolean {
  if (scope === 'any') return true
  if (!isObject(args)) return false
  if ('exactly' in scope) return digest(scope.exactly) === digest(args)
  return Object.entries(scope.including).every(
    ([name, value]) => Object.hasOwn(args, name) && digest([args[name]]) === digest([value]),
  )
}
