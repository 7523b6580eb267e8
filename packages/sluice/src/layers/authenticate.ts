/**
 * Authenticates the caller. Only `observe` is further out, so that nothing is decided for an unverified caller.
 * Credentials are checked per message, never per connection, and do not pass this layer.
 */

import type { Call, Caller, Layer, Via } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { AuthenticateCredential, CredentialOptions } from './identities/authenticate-credential.ts'
import { createCredentialAuthenticator, unauthorized } from './identities/authenticate-credential.ts'
import type { CredentialMonitor } from './identities/credential-monitor.ts'
import { createCredentialMonitor } from './identities/credential-monitor.ts'
import type { ScopeHierarchy } from './identities/scope-hierarchy.ts'
import { createScopeHierarchy } from './identities/scope-hierarchy.ts'

/** Which verifiers are asked, and which methods need no caller. */
export interface AuthenticateOptions extends CredentialOptions {
  /**
   * Methods that are served without a token, to `anonymous`. List only methods that reveal nothing of the caller's
   * data, because each is open to the whole internet. An invalid token is refused here too.
   */
  readonly publicMethods?: readonly string[]
}

const defaultPublicMethods = ['initialize', 'ping', 'server/discover']

/** Returns the public methods. A client that may begin the handshake may end it; otherwise it would get no further. */
export function publicMethods({
  publicMethods: methods = defaultPublicMethods,
}: AuthenticateOptions): ReadonlySet<string> {
  return new Set(methods.includes('initialize') ? [...methods, 'notifications/initialized'] : methods)
}

/** Creates the layer. `authenticateCredential` and `monitor` are passed in if other code uses the same ones. */
export function authenticateLayer(
  options: AuthenticateOptions,
  clock: Clock,
  authenticateCredential: AuthenticateCredential = createCredentialAuthenticator(options, clock),
  monitor: CredentialMonitor = createCredentialMonitor(options.verifiers, authenticateCredential, clock),
): Layer {
  const isPublic = publicMethods(options)
  const hierarchy = options.impliedScopes && createScopeHierarchy(options.impliedScopes)

  return (next) =>
    async function authenticate(call) {
      const found = await authenticateCredential(call)
      if (!found && !isPublic.has(call.method)) throw unauthorized(scopeHint(call, hierarchy))
      const caller = found ?? anonymous
      call.facts['caller'] = caller.subject
      call.facts['credential'] = caller.credential
      const authenticated = withCaller(call, caller)
      const isStream = call.target.policy.timeoutMs === Number.POSITIVE_INFINITY
      if (!hierarchy && (!found || !isStream)) return next(authenticated)
      const release = found && isStream ? monitor(call, caller) : undefined
      try {
        return await next(authenticated)
      } catch (thrown) {
        throw hierarchy ? challenge(thrown, hierarchy, caller) : thrown
      } finally {
        release?.()
      }
    }
}

/**
 * Names the scopes only if the target is listed for every caller. Otherwise the challenge would reveal that it exists.
 */
const scopeHint = ({ target: { policy } }: Call, hierarchy?: ScopeHierarchy): { scopes?: readonly string[] } =>
  policy.listed && policy.scopes.length > 0
    ? { scopes: hierarchy?.scopesToRequest(policy.scopes, anonymous.scopes) ?? policy.scopes }
    : {}

/** Adds the scopes to request from the authorization server to a refusal for a missing scope. */
function challenge(thrown: unknown, { scopesToRequest }: ScopeHierarchy, { scopes: held }: Caller): unknown {
  if (!(thrown instanceof RpcError) || thrown.reason !== 'insufficientScope') return thrown
  const { reason, message, data } = thrown
  const { scopes } = data
  return Array.isArray(scopes)
    ? new RpcError(reason, message, { data: { ...data, scopes: scopesToRequest(scopes, held) } })
    : thrown
}

/** Returns the call for later layers and tools, with the caller and without its credential. */
function withCaller(call: Call, caller: Caller): Call {
  const params = withoutToken(call.params)
  // The arguments of a method are its parameters, which would contain the token.
  return { ...call, caller, params, args: call.args === call.params ? params : call.args, via: withoutHeader(call.via) }
}

function withoutToken(params: Params): Params {
  if (!Object.hasOwn(params, 'token')) return params
  const { token: _, ...rest } = params
  return rest
}

/** Hides the header in any spelling, because some transports ignore case. */
const withoutHeader = (via: Via): Via => ({
  transport: via.transport,
  peer: via.peer,
  header: (name) => (name.toLowerCase() === 'authorization' ? undefined : via.header(name)),
  ...(via.connection && { connection: via.connection }),
})
