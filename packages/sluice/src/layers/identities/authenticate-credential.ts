/**
 * Who sent this: where a message may carry its token, and who is asked about it. Shared by the layer, for calls, and by
 * whoever receives what is no call (streams, notifications, responses), so that both judge alike.
 */

import type { Call, Caller, Via } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { ExposedResource } from '../../core/plugin.ts'
import type { ImpliedScopes } from './scope-hierarchy.ts'
import { createScopeHierarchy } from './scope-hierarchy.ts'

/** Vouches for callers: `jwt`, `apiKeys`, or one of your own. */
export interface Verifier {
  /**
   * The caller this token stands for; `undefined` if it is not good, or not of this verifier. Throws when it cannot
   * tell. `facts` may be told why, for the log: never the token or a part of it.
   */
  verify(token: string, call: Pick<Call, 'via' | 'facts'>): Promise<Caller | undefined>
  /**
   * Stands before its callers' subjects where there is more than one verifier: two issuers may both have an "alice", and
   * neither may use the tickets, grants and recorded results of the other.
   */
  readonly issuer?: string | undefined
  /**
   * Where it is told of such things: calls `hear` with the `credential` of a caller that may be good no longer, so that
   * streams are looked at now and not seconds later. The returned function ends it.
   */
  onChange?(hear: (credential: string) => void): () => void
  /** The server's public address, if the verifier knows it: `oauth` does. HTTP transports serve it without further options. */
  readonly expose?: ExposedResource
}

export interface CredentialOptions {
  /** Asked in this order; the first that vouches decides. */
  readonly verifiers: readonly Verifier[]
  /**
   * Takes `params.token` over HTTP and WebSocket too. Off, because bodies are logged, stored and replayed where headers
   * are not. On a pipe and in memory, which have no headers, it is always taken.
   */
  readonly paramsToken?: boolean
  /**
   * The token of whoever started this process, for stdio alone: usually the environment's `SLUICE_TOKEN`. On any other
   * transport it would lend the operator's identity to strangers.
   */
  readonly stdioToken?: string | undefined
  /**
   * Which scope implies which, for every check of scopes: `{ repo: ['repo:read'] }`. None by default, since a wrong line
   * here opens what it names to all who hold the wider scope.
   */
  readonly impliedScopes?: ImpliedScopes
}

/** `undefined` where no place holds a token; throws `unauthorized` where one does and nobody vouches for it. */
export type AuthenticateCredential = (call: Pick<Call, 'via' | 'params' | 'facts'>) => Promise<Caller | undefined>

/** What a place held. No token: something is there that cannot be one, which must not count as nothing. */
interface Found {
  readonly from: 'header' | 'params' | 'stdio'
  readonly token: string | undefined
}

/** A longer one is no token but an attempt to make us hash, parse and keep it. */
const maxTokenLength = 8 * 1024

export function createCredentialAuthenticator(options: CredentialOptions, clock: Clock): AuthenticateCredential {
  const { verifiers, paramsToken = false, stdioToken, impliedScopes } = options
  const hierarchy = impliedScopes && createScopeHierarchy(impliedScopes)
  if (verifiers.length === 0) throw new TypeError('verifiers: without one nobody can be let in')

  /** The first place that holds something decides: a bad header is not mended by a good token elsewhere. */
  function find({ via, params }: Parameters<AuthenticateCredential>[0]): Found | undefined {
    const header = via.header('authorization')
    if (header !== undefined) return { from: 'header', token: bearerOf(header) }
    const { transport } = via
    const given = params['token']
    if (given !== undefined && given !== null && (paramsToken || transport === 'stdio' || transport === 'memory'))
      return { from: 'params', token: typeof given === 'string' ? tokenOf(given) : undefined }
    if (transport === 'stdio' && stdioToken) return { from: 'stdio', token: tokenOf(stdioToken) }
    return undefined
  }

  async function verify(token: string, call: Parameters<AuthenticateCredential>[0]): Promise<Caller> {
    let unable: unknown
    for (const verifier of verifiers)
      try {
        const caller = await verifier.verify(token, call)
        if (!caller || caller.expires <= clock.now()) continue
        const { issuer } = verifier
        if (issuer === undefined || verifiers.length === 1) return caller
        return { ...caller, subject: `${issuer} ${caller.subject}` }
      } catch (thrown) {
        // Another may still vouch: one issuer that is away must not lock out the others' callers.
        unable ??= thrown
      }
    throw unable ?? unauthorized({ error: 'invalid_token' })
  }

  return async function identify(call) {
    const found = find(call)
    if (!found) {
      // Whoever knows the id of somebody's session and nothing else gets no further, not even to what is public.
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

/** One text for every cause: which part of a forgery was wrong is nobody's business. `data` is what a challenge needs. */
export const unauthorized = (data: {
  readonly error?: 'invalid_token'
  readonly scopes?: readonly string[]
}): RpcError => new RpcError('unauthorized', 'Authentication required', { data })

/** A pipe has one client, whoever that client speaks for. */
const isSession = ({ transport, connection }: Via): boolean =>
  connection !== undefined && transport !== 'stdio' && transport !== 'memory'

/**
 * A session belongs to the first principal that authenticates on it: its id travels in a header that gets logged, so
 * knowing it must not be enough, and the refusal is that of a session that never was.
 */
async function claimSession({ connection }: Via, { subject, credential }: Caller): Promise<void> {
  if (!(await connection?.claimOwnership(JSON.stringify([subject, credential]))))
    throw new RpcError('sessionNotFound', 'Session not found: send initialize again')
}

/**
 * RFC 6750: the scheme in any case, then one token. Two headers joined by a comma are therefore none. What else a token
 * may not hold is left to the verifiers, who look at it once: here it would be read through on every call.
 */
function bearerOf(header: string): string | undefined {
  if (!/^bearer /i.test(header)) return undefined
  const token = header.slice(7).trim()
  return token !== '' && isShort(token) && !token.includes(' ') && !token.includes(',') ? token : undefined
}

const tokenOf = (text: string): string | undefined => (isShort(text) && /^[\w.~+/-]+=*$/.test(text) ? text : undefined)

const isShort = (token: string): boolean => token.length <= maxTokenLength
