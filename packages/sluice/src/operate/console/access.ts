/** Who may call what: the keys against the tools of a server, with the reason for each no. Nothing is called. */

import type { Rules } from '../../approvals/rules.ts'
import { createRules } from '../../approvals/rules.ts'
import { RpcError } from '../../core/error.ts'
import type { Target } from '../../core/target.ts'
import type { KeyAccess, KeySummary, Operator, RouteInput, RouteOutput, ToolAccess } from './api.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'
import { keysOf } from './tenants.ts'

/** What a gateway tells of a call, if it has rules per caller. */
interface Explains {
  explain?(question: {
    readonly upstream: string
    readonly tool: string
    readonly caller: {
      readonly subject: string
      readonly key: string
      readonly scopes: readonly string[]
      readonly tenant: string
    }
  }): { readonly outcome: 'runs' | 'needsApproval' | 'refused'; readonly refusal?: { readonly message: string } }
}

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
  const tools = server.definition().tools ?? []
  return {
    ...{ key: id, prefix, subject, scopes },
    ...(holder.tenant !== undefined && { tenant: holder.tenant }),
    tools: tools.map((tool) => ({ name: tool.name, ...toolAccess(consoleState, server, holder, tool, rules) })),
  }
}

function toolAccess(
  consoleState: ConsoleState,
  server: WatchedServer,
  holder: Holder,
  tool: Target,
  rules: Rules,
): Omit<ToolAccess, 'name'> {
  const { tenant, scopes } = holder
  const ofTenant = tenant === undefined ? undefined : server.attached?.toolsOf?.(tenant)
  if (typeof ofTenant === 'object' && !ofTenant.has(tool.name))
    return { outcome: 'refused', reason: `Tenant ${tenant} does not have this tool` }
  const missing = tool.policy.scopes.filter((scope) => !scopes.has(scope))
  if (missing.length > 0) return { outcome: 'refused', reason: `Lacks the scope ${missing.join(' ')}` }
  const explanation = explain(consoleState, server, holder, tool)
  if (explanation?.outcome === 'refused')
    return { outcome: 'refused', reason: explanation.refusal?.message ?? 'Refused by a rule of the gateway' }
  const call = { target: tool, tenant: { id: tenant ?? '' }, caller: { subject: holder.key.subject } }
  // Rules look at the names of the tenant and the caller alone.
  const { approval } = rules.verdict(call as Parameters<Rules['verdict']>[0], server.name)
  if (approval === 'never') return { outcome: 'runs' }
  if (approval === 'always' || tool.policy.approval === 'always' || explanation?.outcome === 'needsApproval')
    return { outcome: 'needsApproval' }
  return { outcome: tool.policy.approval === 'depends' ? 'dependsOnArguments' : 'runs' }
}

/** Rules of a gateway may differ by caller. The endpoint of an upstream has the name of the upstream. */
function explain(
  { gateway }: ConsoleState,
  { name: upstream }: WatchedServer,
  { key, tenant = '', scopes }: Holder,
  { name: tool }: Target,
): ReturnType<NonNullable<Explains['explain']>> | undefined {
  const found = gateway()
  if (!found?.states().some(({ name }) => name === upstream)) return undefined
  const caller = { subject: key.subject, key: key.id, scopes: [...scopes], tenant }
  return (found as Explains).explain?.({ upstream, tool, caller })
}
