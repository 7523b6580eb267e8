/** Who may call what: the keys against the tools of a server, with the reason for each refusal. Nothing is called. */

import type { Rules } from '../../approvals/policy/rules.ts'
import { createRules } from '../../approvals/policy/rules.ts'
import { RpcError } from '../../core/error.ts'
import type { Target } from '../../core/target.ts'
import type { HostPolicies } from '../../gateway/explain.ts'
import type { KeyAccess, KeySummary, Operator, RouteInput, RouteOutput, ToolAccess } from './api.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'
import { keysOf } from './tenants.ts'

/** A key, for one of its tenants. */
interface Holder {
  readonly key: KeySummary
  readonly tenant: string | undefined
  /** With all that they imply. */
  readonly scopes: ReadonlySet<string>
}

export async function accessOf(
  consoleState: ConsoleState,
  operator: Operator,
  { server: name, after }: RouteInput<'listAccess'>,
): Promise<RouteOutput<'listAccess'>> {
  const server = consoleState.servers.find((each) => each.name === name)
  if (!server) throw new RpcError('resourceNotFound', 'This server does not exist')
  const { keys, next } = await keysOf(consoleState, operator, after === undefined ? {} : { after })
  const now = consoleState.clock.now()
  const valid = keys.filter(({ revoked, expires = Number.POSITIVE_INFINITY }) => revoked === undefined && expires > now)
  const rules = createRules(consoleState.approvals?.rules)
  return {
    keys: valid.flatMap((key) => holdersOf(server, key).map((holder) => toAccess(consoleState, server, holder, rules))),
    ...(next !== undefined && { next }),
  }
}

function holdersOf({ attached }: WatchedServer, key: KeySummary): readonly Holder[] {
  const scopes = attached?.expandScopes?.(new Set(key.scopes)) ?? new Set(key.scopes)
  const tenants = key.tenants.length > 0 ? key.tenants : [undefined]
  return tenants.map((tenant) => ({ key, tenant, scopes }))
}

function toAccess(consoleState: ConsoleState, server: WatchedServer, holder: Holder, rules: Rules): KeyAccess {
  const { id, prefix, subject, scopes } = holder.key
  return {
    ...{ key: id, prefix, subject, scopes },
    ...(holder.tenant !== undefined && { tenant: holder.tenant }),
    tools:
      upstreamAccess(consoleState, server, holder, rules) ??
      (server.definition().tools ?? []).map((tool) => ({
        name: tool.name,
        ...toolAccess(server, holder, tool, rules),
      })),
  }
}

function toolAccess(server: WatchedServer, holder: Holder, tool: Target, rules: Rules): Omit<ToolAccess, 'name'> {
  const { tenant, scopes } = holder
  const ofTenant = tenant === undefined ? undefined : server.attached?.toolsOf?.(tenant)
  if (typeof ofTenant === 'object' && !ofTenant.has(tool.name))
    return { outcome: 'refused', reason: `Tenant ${tenant} does not have this tool` }
  const missing = tool.policy.scopes.filter((scope) => !scopes.has(scope))
  if (missing.length > 0) return { outcome: 'refused', reason: `Lacks the scope ${missing.join(' ')}` }
  const call = { target: tool, tenant: { id: tenant ?? '' }, caller: { subject: holder.key.subject } }
  // Rules look at the names of the tenant and the caller alone.
  const { approval } = rules.verdict(call as Parameters<Rules['verdict']>[0], server.name)
  if (approval === 'never') return { outcome: 'runs' }
  if (approval === 'always' || tool.policy.approval === 'always') return { outcome: 'needsApproval' }
  return { outcome: tool.policy.approval === 'depends' ? 'dependsOnArguments' : 'runs' }
}

/**
 * Rules of a gateway differ by caller, so it explains each of its tools, by the names that the caller sees. The endpoint
 * of an upstream has the name of the upstream; `undefined` for other servers.
 */
function upstreamAccess(
  { gateway }: ConsoleState,
  { name: upstream, attached }: WatchedServer,
  { key, tenant = '', scopes }: Holder,
  { verdict }: Rules,
): readonly ToolAccess[] | undefined {
  const found = gateway()
  if (!found?.states().some(({ name }) => name === upstream)) return undefined
  const caller = { subject: key.subject, key: key.id, scopes: [...scopes], tenant }
  const host = { verdict, tenantTools: (of: string) => attached?.toolsOf?.(of) ?? 'all' } satisfies HostPolicies
  return found
    .upstreamTools()
    .filter((each) => each.upstream === upstream)
    .map(({ tool }) => {
      const { outcome, listedAs = tool, refusal } = found.explain({ upstream, tool, caller }, host)
      return { name: listedAs, outcome, ...(refusal && { reason: refusal.message }) }
    })
}
