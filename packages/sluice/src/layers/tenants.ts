/**
 * For whom the caller works: from verified claims only, and never from a header alone. Whoever has no tenant is
 * refused, not run without one.
 */

import type { Call, Caller, Layer, Tenant } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Tenants } from '../core/plugin.ts'

export interface TenantsOptions {
  /**
   * Where the tenants of a caller stand: a claim of its token or API key (a name, or a list of them for a member of
   * several), or a function of the caller.
   */
  readonly claim: string | ((caller: Caller) => unknown)
  /**
   * The header by which a member of several chooses one: `X-Tenant` unless said. It only ever chooses among verified
   * memberships; a header that was believed would hand every tenant to every caller. Where there are no headers,
   * `_meta["dev.sluice/tenant"]` does the same, message by message.
   */
  readonly header?: string
  /**
   * The choice of whoever started this process, for stdio alone: usually the environment's `SLUICE_TENANT`. It too only
   * chooses among memberships.
   */
  readonly stdioTenant?: string | undefined
  /**
   * The tools a tenant has, or `'all'`; asked on every call, and with `undefined` for public calls. The rest is to its
   * callers as if it were not there. Return another set when it changes: lists are kept ready by the set itself.
   */
  readonly tools?: (tenant: string | undefined) => ReadonlySet<string> | 'all'
}

const metaKey = 'dev.sluice/tenant'

/** Ids become keys, labels and log fields: what is longer, or holds anything that needs escaping somewhere, is none. */
const validId = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/
/** A token that names more is a mistake, and looking through it would cost every call. */
const maxMemberships = 1000

/** After authentication; everything further in may rely on `call.tenant`. */
export function tenantsLayer(options: TenantsOptions, registry: Tenants): Layer {
  const { claim: from, header = 'X-Tenant', stdioTenant, tools } = options
  const chosenBy = header.toLowerCase()
  const read = typeof from === 'string' ? claimOf(from) : from

  const narrowed = (plain: Tenant, id: string | undefined): Tenant => (tools ? { ...plain, tools: tools(id) } : plain)

  /** Two places that name two tenants are one too many: which one was meant cannot be told. */
  function chosenIn({ via, meta }: Call): string | undefined {
    const named = meta[metaKey]
    const inHeader = via.header(chosenBy)?.trim()
    if (named === undefined) return inHeader ?? (via.transport === 'stdio' ? stdioTenant || undefined : undefined)
    if (typeof named !== 'string') throw forbidden(`_meta["${metaKey}"] must be the name of a tenant`)
    if (inHeader !== undefined && inHeader !== named) throw forbidden(`${header} and _meta name two different tenants`)
    return named
  }

  function tenantOf(call: Call): Tenant {
    const { caller } = call
    if (caller.credential === anonymous.credential) return narrowed(registry.none, undefined)
    const memberships = parseMemberships(read(caller))
    const [first] = memberships
    if (first === undefined) throw forbidden('Your credential belongs to no tenant here')
    const chosen = chosenIn(call)
    // Also where there is only one: whoever names another would work on the wrong tenant's data.
    if (chosen !== undefined && !memberships.includes(chosen))
      throw forbidden('You are not a member of the tenant you chose')
    if (chosen === undefined && memberships.length > 1)
      throw forbidden(`You belong to several tenants: choose one with ${header} or _meta["${metaKey}"]`)
    const id = chosen ?? first
    return narrowed(registry.of(id), id)
  }

  return (next) =>
    function tenants(call) {
      try {
        const found = tenantOf(call)
        if (found.id !== '') call.facts['tenant'] = found.id
        return next({ ...call, tenant: found })
      } catch (thrown) {
        return Promise.reject(thrown)
      }
    }
}

const forbidden = (problem: string): RpcError => new RpcError('forbidden', problem)

const claimOf =
  (name: string) =>
  ({ claims }: Caller): unknown =>
    claims[name]

function parseMemberships(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value.slice(0, maxMemberships) : [value]
  return [...new Set(all.filter((id): id is string => typeof id === 'string' && validId.test(id)))]
}
