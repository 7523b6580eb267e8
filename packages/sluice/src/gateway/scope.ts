/** Decides whose calls share one connection of an upstream. */

import type { Call } from '../core/call.ts'
import type { Scope, ScopeKey } from './connections.ts'

/** The connection that lists definitions. It serves no call. */
export const discoveryKey: ScopeKey = { text: 'discovery', tenant: undefined }

const shared: ScopeKey = { text: 'shared', tenant: undefined }

/** Returns the scope key of a call. Lengths are part of the text, so that no two pairs of names make the same key. */
export function scopeKeyOf(scope: Scope, { tenant, caller, via }: Call): ScopeKey {
  const { id } = tenant
  if (scope === 'shared') return shared
  if (scope === 'tenant') return { text: `tenant:${id}`, tenant: id }
  if (scope === 'session' && via.connection) return { text: `session:${via.connection.id}`, tenant: id }
  return { text: `caller:${id.length}:${id}:${caller.subject}`, tenant: id }
}
