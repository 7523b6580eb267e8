/** Tenants with their usage, and the API keys that open their data. */

import { RpcError } from 'sluice'
import { auditTenants } from 'sluice/audit'
import type { KeySummary, LimitUsage, Operator, RouteInput, RouteOutput, TenantSummary } from '../api/index.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'

const minute = 60

/** Lists tenants from the audit, the keys and the traffic, because none of the three knows all of them. */
export async function tenantsOf(
  { store, live, keys, servers }: ConsoleState,
  { tenants: ownTenants }: Operator,
): Promise<readonly TenantSummary[]> {
  const used = live.tenants(minute)
  const recorded = await auditTenants(store)
  const named = (await keys.list({ limit: maxKeys })).flatMap(({ tenants }) => tenants)
  const all = new Set([...used.keys(), ...recorded, ...named])
  // Calls that were not authenticated have no tenant.
  all.delete('')
  const seen = [...all].filter((id) => ownTenants.length === 0 || ownTenants.includes(id)).sort()
  return seen.map((id) => {
    const use = used.get(id)
    return {
      id,
      servers: [...(use?.servers ?? [])].sort(),
      calls: use?.calls ?? 0,
      errors: use?.errors ?? 0,
      limited: use?.limited ?? 0,
      ...(use?.p95 !== undefined && { p95: use.p95 }),
      limits: servers.flatMap((server) => limitsOf(server, id)),
    }
  })
}

function limitsOf({ name: server, quotas }: WatchedServer, tenant: string): readonly LimitUsage[] {
  const found: LimitUsage[] = []
  for (const { name, of } of quotas) {
    const use = of(tenant)
    if (use) found.push({ server, name, ...use })
  }
  return found
}

const maxKeys = 1_000
const pageSize = 50

export async function keysOf(
  { keys }: ConsoleState,
  { tenants: ownTenants }: Operator,
  input: RouteInput<'listKeys'>,
): Promise<RouteOutput<'listKeys'>> {
  const found = await keys.list({ limit: pageSize, ...(input.after !== undefined && { after: input.after }) })
  const shown = found.filter(
    (key) => isVisible(key, ownTenants) && (input.tenant === undefined || key.tenants.includes(input.tenant)),
  )
  const last = found.length === pageSize ? found.at(-1)?.id : undefined
  return { keys: shown, ...(last !== undefined && { next: last }) }
}

export async function revokeKey(
  consoleState: ConsoleState,
  { tenants: ownTenants }: Operator,
  id: string,
): Promise<KeySummary> {
  const key = await keyOf(consoleState, ownTenants, id)
  await consoleState.keys.revoke(id)
  return key
}

/** Returns a key. An operator may not use or revoke a key that also opens another operator's tenant. */
export async function keyOf({ keys }: ConsoleState, ownTenants: readonly string[], id: string): Promise<KeySummary> {
  const key = await keys.get(id)
  if (!key || !isVisible(key, ownTenants)) throw new RpcError('resourceNotFound', 'This key does not exist')
  return key
}

const isVisible = ({ tenants }: { readonly tenants: readonly string[] }, ownTenants: readonly string[]): boolean =>
  ownTenants.length === 0 || (tenants.length > 0 && tenants.every((tenant) => ownTenants.includes(tenant)))
