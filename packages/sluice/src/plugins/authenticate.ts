/** The plugin `authenticate`: which callers may call, by which credentials. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { ProtectedResource, ProtectedResourceOptions } from '../core/protected-resource.ts'
import { protectedResource } from '../core/protected-resource.ts'
import type { AuthenticateOptions } from '../layers/authenticate.ts'
import { authenticateLayer, publicMethods } from '../layers/authenticate.ts'
import type { Verifier } from '../layers/identities/authenticate-credential.ts'
import { createCredentialAuthenticator, unauthorized } from '../layers/identities/authenticate-credential.ts'
import { createCredentialMonitor } from '../layers/identities/credential-monitor.ts'
import { createScopeHierarchy } from '../layers/identities/scope-hierarchy.ts'

/** Verifies every caller, with one verifier or several. Without it all callers are anonymous. */
export const authenticate = (by: Verifier | AuthenticateOptions): SlotPlugin<'authenticate'> => ({
  slot: 'authenticate',
  create({ clock }) {
    const options = 'verify' in by ? { verifiers: [by] } : by
    const authenticateCredential = createCredentialAuthenticator(options, clock)
    const isPublic = publicMethods(options)
    const monitor = createCredentialMonitor(options.verifiers, authenticateCredential, clock)
    const expose = exposedBy(options.verifiers)
    return {
      layer: authenticateLayer(options, clock, authenticateCredential, monitor),
      async authorizeConnection(via, stop, method = '') {
        const call = { via, params: {}, facts: {} }
        const caller = await authenticateCredential(call)
        if (!caller && !isPublic.has(method)) throw unauthorized({})
        if (caller && stop) monitor({ ...call, stop }, caller)
      },
      ...(expose && { expose }),
      ...(options.impliedScopes && { expandScopes: createScopeHierarchy(options.impliedScopes).expand }),
      async close() {
        monitor.close()
      },
    }
  },
})

/** Describes the one address that the verifiers protect, with the issuers of all of them. */
function exposedBy(verifiers: readonly Verifier[]): ProtectedResource | undefined {
  const all = verifiers.flatMap(({ expose }) => expose ?? [])
  const [first] = all
  if (!first) return undefined
  const other = all.find(({ resource }) => resource !== first.resource)
  if (other)
    throw new TypeError(`A server has one address, but "resource" is ${first.resource} and ${other.resource}: use one`)
  const union = (of: (each: ProtectedResourceOptions) => readonly string[]): readonly string[] => [
    ...new Set(all.flatMap(of)),
  ]
  return protectedResource({
    ...first,
    authorizationServers: union(({ authorizationServers }) => authorizationServers),
    scopes: union(({ scopes = [] }) => scopes),
  })
}
