/** Decides whose calls share one connection of an upstream. */

import type { Call } from '../core/call.ts'
import { ownerTenant } from '../layers/tenant-registry.ts'
import type { Scope, ScopeKey } from './connections.ts'
import type { Upstream } from './types.ts'

const shared: ScopeKey = { text: 'shared', tenant: undefined }
const separate: ScopeKey = { text: 'discovery', tenant: undefined }

/** Returns the connection that lists definitions. It serves calls only if it costs a process that all calls share. */
export const discoveryKey = ({ scope, isProcess }: Pick<Upstream, 'scope' | 'isProcess'>): ScopeKey =>
  isProcess && scope === 'shared' ? shared : separate

/** Returns the scope key of a call. Lengths are part of the text, so that no two pairs of names make the same key. */
export function scopeKeyOf(scope: Scope, { tenant, caller, via }: Call): ScopeKey {
  const { id } = tenant
  // A server without tenants has one, and limits per tenant do not apply to it.
  const limited = id === ownerTenant ? undefined : id
  if (scope === 'shared') return shared
  if (scope === 'tenant') return { text: `tenant:${id}`, tenant: limited }
  const { connection } = via
  if (scope === 'session' && connection)
    return { text: `session:${connection.id}`, tenant: limited, isOver: () => connection.closed }
  return { text: `caller:${id.length}:${id}:${caller.subject}`, tenant: limited }
}
