/**
 * Finds the token of a message and verifies it. The layer uses this for calls. Receivers of streams, notifications and
 * responses, which are not calls, use it too, so that both decide alike.
 */

import type { Call, Caller, Via } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { ProtectedResourceOptions } from '../../core/protected-resource.ts'
import type { ImpliedScopes } from './scope-hierarchy.ts'
import { createScopeHierarchy } from './scope-hierarchy.ts'

/** Verifies callers: `jwt`, `apiKeys`, or your own. */
export interface Verifier {
  /**
   * Returns the caller of this token; `undefined` if the token is invalid, or not of this verifier. Throws if it cannot
   * decide. It may set `facts` to the reason, for the log, but never to the token or a part of it.
   */
  verify(token: string, call: Pick<Call, 'via' | 'facts'>): Promise<Caller | undefined>
  /**
   * Prefix of its callers' subjects if there is more than one verifier. Two issuers may both have an "alice", and
   * neither may use the tickets, grants and recorded results of the other.
   */
  readonly issuer?: string | undefined
  /**
   * Optional. Calls `listener` with the `credential` of a caller that may no longer be valid, so that streams are
   * rechecked now instead of seconds later. The returned function unsubscribes.
   */
  onChange?(listener: (credential: string) => void): () => void
  /** The server's public address and its issuer, if the verifier knows them: `oauth` does. HTTP transports use them. */
  readonly expose?: ProtectedResourceOptions
}

export interface CredentialOptions {
  /** Verifiers in the order in which they are tried. The first that accepts the token decides. */
  readonly verifiers: readonly Verifier[]
  /**
   * Accepts `params.token` over HTTP and WebSocket too. Off by default, because bodies are logged, stored and replayed
   * where headers are not. Pipes and in-memory clients have no headers, so they may always use it.
   */
  readonly paramsToken?: boolean
  /**
   * The token of the user who started this process, for stdio only. Usually the environment's `SLUICE_TOKEN`. On any
   * other transport it would lend the operator's identity to strangers.
   */
  readonly stdioToken?: string | undefined
  /**
   * Scopes that imply others, for every check of scopes: `{ repo: ['repo:read'] }`. None by default, because a wrong
   * line opens the named scope to every holder of the wider one.
   */
  readonly impliedScopes?: ImpliedScopes
}

/**
 * Returns the caller; `undefined` if the message has no token. Throws `unauthorized` if it has one that no verifier
 * accepts.
 */
export type AuthenticateCredential = (call: Pick<Call, 'via' | 'params' | 'facts'>) => Promise<Caller | undefined>

/**
 * The token that was found. `token` is `undefined` if the value cannot be a token, which must not count as no token.
 */
interface Found {
  readonly from: 'header' | 'params' | 'stdio'
  readonly token: string | undefined
}

/** A longer value is not a token but an attempt to make the server hash, parse and keep it. */
const maxTokenLength = 8 * 1024

export function createCredentialAuthenticator(options: CredentialOptions, clock: Clock): AuthenticateCredential {
  const { verifiers, paramsToken = false, stdioToken, impliedScopes } = options
  const hierarchy = impliedScopes && createScopeHierarchy(impliedScopes)
  if (verifiers.length === 0) throw new TypeError('"verifiers" is empty, so every caller would be refused: add one')

  /**
   * Finds the token. The first source that has a value decides, so a good token elsewhere does not replace a bad
   * header.
   */
  function find({ via, params }: Parameters<AuthenticateCredential>[0]): Found | undefined {
    const header = via.header('authorization')
    if (header !== undefined) return { from: 'header', token: bearerOf(header) }
    const { transport } = via
    const value = params['token']
    if (value !== undefined && value !== null && (paramsToken || transport === 'stdio' || transport === 'memory'))
      return { from: 'params', token: typeof value === 'string' ? tokenOf(value) : undefined }
    if (transport === 'stdio' && stdioToken) return { from: 'stdio', token: tokenOf(stdioToken) }
    return undefined
  }

  async function verify(token: string, call: Parameters<AuthenticateCredential>[0]): Promise<Caller> {
    let failure: unknown
    for (const verifier of verifiers)
      try {
        const caller = await verifier.verify(token, call)
        if (!caller || caller.expires <= clock.now()) continue
        const { issuer } = verifier
        if (issuer === undefined || verifiers.length === 1) return caller
        return { ...caller, subject: `${issuer} ${caller.subject}` }
      } catch (thrown) {
        // Another verifier may still accept it: one unavailable issuer must not lock out the callers of others.
        failure ??= thrown
      }
    throw failure ?? unauthorized({ error: 'invalid_token' })
  }

  return async function authenticateCredential(call) {
    const found = find(call)
    if (!found) {
      // A client that knows only the id of a session gets no further, not even to public methods.
      if (isSession(call.via) && call.via.connection?.state.owner !== undefined) throw unauthorized({})
      return undefined
    }
    call.facts['tokenFrom'] = found.from
    if (found.token === undefined) throw unauthorized({ error: 'invalid_token' })
    const caller = await verify(found.token, call)
    if (isSession(call.via)) await claimSession(call.via, caller)
    return hierarchy ? { ...caller, scopes: hierarchy.expand(caller.scopes) } : caller
  }
}

/**
 * Returns the refusal. It has one text for every cause, so that it does not reveal which part of a forgery was wrong.
 * `data` is for the challenge.
 */
export const unauthorized = (data: {
  readonly error?: 'invalid_token'
  readonly scopes?: readonly string[]
}): RpcError => new RpcError('unauthorized', 'Authentication required', { data })

/** Returns whether the connection is a session. A pipe has one client, whatever principal it acts for. */
const isSession = ({ transport, connection }: Via): boolean =>
  connection !== undefined && transport !== 'stdio' && transport !== 'memory'

/**
 * Binds a session to the first principal that authenticates on it. Its id travels in a header that gets logged, so
 * knowing it must not be enough. The refusal is that of a missing session.
 */
async function claimSession({ connection }: Via, { subject, credential }: Caller): Promise<void> {
  if (!(await connection?.claimOwnership(JSON.stringify([subject, credential]))))
    throw new RpcError('sessionNotFound', 'Session not found: send initialize again')
}

/**
 * Parses an RFC 6750 header: the scheme in any case, then one token. Two headers joined by a comma are therefore
 * refused. Verifiers check the other characters once; here it would cost every call.
 */
function bearerOf(header: string): string | undefined {
  if (!/^bearer /i.test(header)) return undefined
  const token = header.slice(7).trim()
  return token !== '' && isShort(token) && !token.includes(' ') && !token.includes(',') ? token : undefined
}

const tokenOf = (text: string): string | undefined => (isShort(text) && /^[\w.~+/-]+=*$/.test(text) ? text : undefined)

const isShort = (token: string): boolean => token.length <= maxTokenLength
