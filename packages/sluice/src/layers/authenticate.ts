/**
 * Who is calling: outermost but for `observe`, so that nothing is decided for a caller nobody vouched for. Credentials
 * are checked per message, never per connection, and do not travel past this layer.
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

export interface AuthenticateOptions extends CredentialOptions {
  /**
   * Served without a token, to `anonymous`. Only what says nothing about the caller's data: each further one is open to
   * the whole internet. A token that is there and bad is refused here too.
   */
  readonly publicMethods?: readonly string[]
}

const defaultPublicMethods = ['initialize', 'ping', 'server/discover']

/** Who may begin the handshake may end it: a client that cannot goes no further, not even to what is public. */
export function publicMethods({
  publicMethods: methods = defaultPublicMethods,
}: AuthenticateOptions): ReadonlySet<string> {
  return new Set(methods.includes('initialize') ? [...methods, 'notifications/initialized'] : methods)
}

/** `identify` and `watch` are handed in where others judge by them too. */
export function authenticateLayer(
  options: AuthenticateOptions,
  clock: Clock,
  identify: AuthenticateCredential = createCredentialAuthenticator(options, clock),
  watch: CredentialMonitor = createCredentialMonitor(options.verifiers, identify, clock),
): Layer {
  const isPublic = publicMethods(options)
  const hierarchy = options.impliedScopes && createScopeHierarchy(options.impliedScopes)

  return (next) =>
    async function authenticate(call) {
      const found = await identify(call)
      if (!found && !isPublic.has(call.method)) throw unauthorized(scopeHint(call, hierarchy))
      const caller = found ?? anonymous
      call.facts['caller'] = caller.subject
      call.facts['credential'] = caller.credential
      const inside = withCaller(call, caller)
      const isStream = call.target.policy.timeoutMs === Number.POSITIVE_INFINITY
      if (!hierarchy && (!found || !isStream)) return next(inside)
      const leave = found && isStream ? watch(call, caller) : undefined
      try {
        return await next(inside)
      } catch (thrown) {
        throw hierarchy ? challenge(thrown, hierarchy, caller) : thrown
      } finally {
        leave?.()
      }
    }
}

/** Scopes are named only where everybody may know of the target; else the challenge would tell that it exists. */
const scopeHint = ({ target: { policy } }: Call, hierarchy?: ScopeHierarchy): { scopes?: readonly string[] } =>
  policy.listed && policy.scopes.length > 0
    ? { scopes: hierarchy?.scopesToRequest(policy.scopes, anonymous.scopes) ?? policy.scopes }
    : {}

/** A refusal for want of a scope, with what to ask the authorization server for. */
function challenge(thrown: unknown, { scopesToRequest: toAskFor }: ScopeHierarchy, { scopes: held }: Caller): unknown {
  if (!(thrown instanceof RpcError) || thrown.reason !== 'insufficientScope') return thrown
  const { reason, message, data } = thrown
  const { scopes } = data
  return Array.isArray(scopes)
    ? new RpcError(reason, message, { data: { ...data, scopes: toAskFor(scopes, held) } })
    : thrown
}

/** The call as later layers and tools see it: somebody's, and without what proved it. */
function withCaller(call: Call, caller: Caller): Call {
  const params = withoutToken(call.params)
  // The arguments of a method are its parameters, and would carry the token on.
  return { ...call, caller, params, args: call.args === call.params ? params : call.args, via: withoutHeader(call.via) }
}

function withoutToken(params: Params): Params {
  if (!Object.hasOwn(params, 'token')) return params
  const { token: _, ...kept } = params
  return kept
}

/** By any spelling: some transports look headers up without regard to case. */
const withoutHeader = (via: Via): Via => ({
  transport: via.transport,
  peer: via.peer,
  header: (name) => (name.toLowerCase() === 'authorization' ? undefined : via.header(name)),
  ...(via.connection && { connection: via.connection }),
})
