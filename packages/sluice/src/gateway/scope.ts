/** Decides whose calls share one connection of an upstream. */

import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { ownerTenant } from '../layers/tenant-registry.ts'
import type { CredentialHolder, Person } from './auth/types.ts'
import type { Scope, ScopeKey } from './connections.ts'
import type { Upstream } from './types.ts'

const shared: ScopeKey = { text: 'shared', tenant: undefined }
const separate: ScopeKey = { text: 'discovery', tenant: undefined }

/** Returns the connection that lists definitions. It serves calls only if it costs a process that all calls share. */
export const discoveryKey = ({ scope, isProcess }: Pick<Upstream, 'scope' | 'isProcess'>): ScopeKey =>
  isProcess && scope === 'shared' ? shared : separate

/** Returns the scope key of a call. `credential` separates connections of one caller that use different credentials. */
export function scopeKeyOf(scope: Scope, { tenant, caller, via }: Call, credential?: string): ScopeKey {
  const { id } = tenant
  // A server without tenants has one, and limits per tenant do not apply to it.
  const limited = id === ownerTenant ? undefined : id
  if (scope === 'shared') return shared
  if (scope === 'tenant') return { text: `tenant:${id}`, tenant: limited }
  const { connection } = via
  if (scope === 'session' && connection)
    return { text: `session:${connection.id}`, tenant: limited, isOver: () => connection.closed }
  return callerKey({ tenant: id, subject: caller.subject, ...(credential !== undefined && { credential }) })
}

/** Returns the key of one caller. Lengths are part of the text, so that no two pairs of names make the same key. */
export function callerKey(holder: CredentialHolder): ScopeKey {
  const { tenant, subject, credential } = holder
  const suffix = credential === undefined ? '' : `#${credential}`
  return {
    text: `caller:${tenant.length}:${tenant}:${subject}${suffix}`,
    tenant: tenant === ownerTenant ? undefined : tenant,
    holder,
  }
}

/** Returns the caller of a call. A stranger over the network has no account at an upstream. */
export function personOf({ caller, tenant, via }: Call, upstream: string): Person {
  if (caller.subject === 'anonymous' && (via.transport === 'http' || via.transport === 'websocket'))
    throw new RpcError('unauthorized', `Each caller signs in to ${upstream}, so this call needs a credential`)
  return { tenant: tenant.id, subject: caller.subject }
}
