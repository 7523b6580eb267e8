/** The plugin `authenticate`: which callers may call, by which credentials. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { AuthenticateOptions } from '../layers/authenticate.ts'
import { authenticateLayer, publicMethods } from '../layers/authenticate.ts'
import { createCredentialAuthenticator, unauthorized } from '../layers/identities/authenticate-credential.ts'
import { createCredentialMonitor } from '../layers/identities/credential-monitor.ts'

/** Verifies every caller. Without it all callers are anonymous. */
export const authenticate = (options: AuthenticateOptions): SlotPlugin<'authenticate'> => ({
  slot: 'authenticate',
  create({ clock }) {
    const authenticateCredential = createCredentialAuthenticator(options, clock)
    const isPublic = publicMethods(options)
    const monitor = createCredentialMonitor(options.verifiers, authenticateCredential, clock)
    const [expose] = options.verifiers.flatMap((verifier) => verifier.expose ?? [])
    return {
      layer: authenticateLayer(options, clock, authenticateCredential, monitor),
      async authorizeConnection(via, stop, method = '') {
        const call = { via, params: {}, facts: {} }
        const caller = await authenticateCredential(call)
        if (!caller && !isPublic.has(method)) throw unauthorized({})
        if (caller && stop) monitor({ ...call, stop }, caller)
      },
      ...(expose && { expose }),
      async close() {
        monitor.close()
      },
    }
  },
})
