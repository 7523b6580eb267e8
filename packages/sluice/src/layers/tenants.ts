/**
 * Finds the tenant of a call from verified claims only, never from a header alone. A caller without a tenant is refused
 * instead of running without one.
 */

import type { Call, Caller, Layer, Tenant } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Tenants } from '../core/plugin.ts'

/** Where the tenants of a caller are found, and which tools each of them has. */
export interface TenantsOptions {
  /**
   * The tenants of a caller: a claim of its token or API key (one name, or a list), or a function of the
   * caller.
   */
  readonly claim: string | ((caller: Caller) => unknown)
  /**
   * The header with which a member of several tenants chooses one. `X-Tenant` by default. It only chooses among
   * verified memberships; trusting it would open every tenant to every caller. On transports without headers,
   * `_meta["dev.sluice/tenant"]` does the same, message by message.
   */
  readonly header?: string
  /**
   * The choice of the user who started this process, for stdio only. Usually the environment's `SLUICE_TENANT`. It only
   * chooses among memberships, too.
   */
  readonly stdioTenant?: string | undefined
  /**
   * Returns the tools of a tenant, or `'all'`. Called on every call, and with `undefined` for public calls. Other tools
   * are hidden from that tenant. Return a new set when it changes, because lists are cached by the set itself.
   */
  readonly tools?: (tenant: string | undefined) => ReadonlySet<string> | 'all'
}

const metaKey = 'dev.sluice/tenant'

/** Ids become keys, labels and log fields, so longer ids and those that need escaping are invalid. */
const validId = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/
/** A token with more memberships is a mistake, and searching them would cost every call. */
const maxMemberships = 1000

/** Creates the layer. It runs after authentication; every inner layer may rely on `call.tenant`. */
export function tenantsLayer(options: TenantsOptions, registry: Tenants): Layer {
  const { claim, header = 'X-Tenant', stdioTenant, tools } = options
  const headerName = header.toLowerCase()
  const read = typeof claim === 'string' ? claimOf(claim) : claim

  const withTools = (plain: Tenant, id: string | undefined): Tenant => (tools ? { ...plain, tools: tools(id) } : plain)

  /** Returns the chosen tenant. Refuses a header and `_meta` that differ, because it is unclear which one was meant. */
  function chosenTenant({ via, meta }: Call): string | undefined {
    const named = meta[metaKey]
    const inHeader = via.header(headerName)?.trim()
    if (named === undefined) return inHeader ?? (via.transport === 'stdio' ? stdioTenant || undefined : undefined)
    if (typeof named !== 'string') throw forbidden(`_meta["${metaKey}"] must be the name of a tenant`)
    if (inHeader !== undefined && inHeader !== named) throw forbidden(`${header} and _meta name two different tenants`)
    return named
  }

  function tenantOf(call: Call): Tenant {
    const { caller } = call
    if (caller.credential === anonymous.credential) return withTools(registry.none, undefined)
    const memberships = parseMemberships(read(caller))
    const [first] = memberships
    if (first === undefined) throw forbidden('Your credential belongs to no tenant here')
    const chosen = chosenTenant(call)
    // Checked even with one membership, because a client that names another tenant would work on the wrong data.
    if (chosen !== undefined && !memberships.includes(chosen))
      throw forbidden('You are not a member of the tenant you chose')
    if (chosen === undefined && memberships.length > 1)
      throw forbidden(`You belong to several tenants: choose one with ${header} or _meta["${metaKey}"]`)
    const id = chosen ?? first
    return withTools(registry.of(id), id)
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
