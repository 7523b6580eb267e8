/** Tenants and their keys: who is there, what they used, and which credentials open their data. */

import { RpcError } from '../../core/error.ts'
import { auditTenants } from '../../observe/chain-read.ts'
import type { Input, Key, Limit, Operator, Output, Tenant } from './api.ts'
import type { Panel, Watched } from './panel.ts'

const minute = 60

/** From the audit, from keys and from what passed: no one of them knows all. */
export async function tenantsOf(
  { store, live, keys, servers }: Panel,
  { tenants: mine }: Operator,
): Promise<readonly Tenant[]> {
  const used = live.tenants(minute)
  const recorded = await auditTenants(store)
  const named = (await keys.list({ limit: maxKeys })).flatMap(({ tenants }) => tenants)
  const all = new Set([...used.keys(), ...recorded, ...named])
  // Of calls nobody let in there is no tenant.
  all.delete('')
  const seen = [...all].filter((id) => mine.length === 0 || mine.includes(id)).sort()
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

function limitsOf({ name: server, uses }: Watched, tenant: string): readonly Limit[] {
  const found: Limit[] = []
  for (const { name, of } of uses) {
    const use = of(tenant)
    if (use) found.push({ server, name, ...use })
  }
  return found
}

const maxKeys = 1_000
const perPage = 50

export async function keysOf(
  { keys }: Panel,
  { tenants: mine }: Operator,
  input: Input<'listKeys'>,
): Promise<Output<'listKeys'>> {
  const found = await keys.list({ limit: perPage, ...(input.after !== undefined && { after: input.after }) })
  const shown = found.filter(
    (key) => isMine(key, mine) && (input.tenant === undefined || key.tenants.includes(input.tenant)),
  )
  const last = found.length === perPage ? found.at(-1)?.id : undefined
  return { keys: shown, ...(last !== undefined && { next: last }) }
}

export async function revokeKey({ keys }: Panel, { tenants: mine }: Operator, id: string): Promise<Key> {
  const key = await keys.get(id)
  // A key that also opens somebody else's tenant is not this operator's to take.
  if (!key || !isMine(key, mine)) throw new RpcError('resourceNotFound', 'There is no such key')
  await keys.revoke(id)
  return key
}

const isMine = ({ tenants }: { readonly tenants: readonly string[] }, mine: readonly string[]): boolean =>
  mine.length === 0 || (tenants.length > 0 && tenants.every((tenant) => mine.includes(tenant)))
