/**
 * Token exchange (RFC 8693): the caller's access token is exchanged at its own issuer for one that is good for the
 * upstream. The caller signs in nowhere else, and the upstream never sees the token of the client. Exchanged tokens are
 * kept in memory only.
 */

import { ClientError } from '../../client/errors.ts'
import type { Authorization } from '../../client/http/authorization.ts'
import { createHostGuard } from '../../client/http/hosts.ts'
import { fetchSender } from '../../client/http/sender.ts'
import { identify } from '../../client/oauth/client-identity.ts'
import { findServer } from '../../client/oauth/discover.ts'
import { createOAuthFetch } from '../../client/oauth/fetch.ts'
import { tokenExchangeGrant } from '../../client/oauth/grants.ts'
import type { Call } from '../../core/call.ts'
import { callerToken } from '../../core/caller-token.ts'
import { messageOf, RpcError } from '../../core/error.ts'
import { getOrCreate } from '../../core/get-or-create.ts'
import { sha256 } from '../../core/sha256.ts'
import { personOf } from '../scope.ts'
import { signInMissing, unavailable } from '../upstream-error.ts'
import type { ClientSource } from './client-source.ts'
import { readClient } from './client-source.ts'
import type { AuthContext, CallerAuth, CredentialHolder, UpstreamAuth } from './types.ts'

/** Options of a token exchange. */
export interface ExchangeOptions {
  /** The authorization server that exchanges. Only tokens that it issued itself are sent to it. */
  readonly issuer: string
  /** The gateway's own client at that authorization server. */
  readonly client: ClientSource
  /** The scopes of the exchanged token. */
  readonly scope?: string | undefined
  /** The name of the upstream at the authorization server, if its address is not enough. */
  readonly audience?: string | undefined
}

/** Exchanges the tokens of callers: `upstream({ name, url, auth: exchangeTokens({ issuer, client }) })`. */
export const exchangeTokens = (options: ExchangeOptions): UpstreamAuth => ({
  open: (context) => createExchange(options, context),
})

interface ExchangedToken {
  readonly header: string
  readonly until: number
}

const maxTokens = 10_000
/** An exchanged token that states no lifetime is used for this long. */
const defaultLifeMs = 5 * 60_000
const marginMs = 10_000

function createExchange(options: ExchangeOptions, context: AuthContext): CallerAuth {
  const { clock, upstream, url, allowHosts = [], sender = fetchSender() } = context
  const { issuer, scope, audience } = options
  const client = readClient(options.client, context)
  // The operator named the issuer, so its host is allowed. Other hosts that its metadata names must be named too.
  const guard = createHostGuard(url, { allowHosts: [...allowHosts, new URL(issuer).hostname] })
  const fetch = createOAuthFetch(sender, guard, clock)
  const tokens = new Map<string, ExchangedToken>()
  const running = new Map<string, Promise<void>>()
  let lister: CredentialHolder | undefined

  const nameOf = ({ tenant, subject, credential = '' }: CredentialHolder): string =>
    JSON.stringify([tenant, subject, credential])
  const validOf = (name: string): ExchangedToken | undefined => {
    const found = tokens.get(name)
    if (found && found.until > clock.now()) return found
    tokens.delete(name)
    return undefined
  }

  async function exchange(name: string, subjectToken: string, { caller }: Call): Promise<void> {
    try {
      const server = await findServer(issuer, fetch, false)
      const names = { client: await client(), clientName: 'Sluice', redirectUrl: undefined }
      const identity = await identify(server, names, undefined, fetch, scope)
      const granted = await tokenExchangeGrant(
        { server, identity, resource: url, scope, fetch },
        subjectToken,
        audience,
      )
      const lifeMs = granted.expires_in === undefined ? defaultLifeMs : granted.expires_in * 1000
      if (tokens.size >= maxTokens) tokens.clear()
      // Never longer than the token it was exchanged from.
      const until = Math.min(clock.now() + lifeMs - marginMs, caller.expires)
      tokens.set(name, { header: `Bearer ${granted.access_token}`, until })
    } catch (thrown) {
      context.logger.warn({ event: 'tokenNotExchanged', upstream, message: messageOf(thrown) })
      if (thrown instanceof RpcError) throw thrown
      const isUnreachable = thrown instanceof ClientError && thrown.reason !== 'unauthorized'
      throw unavailable(
        isUnreachable
          ? `${issuer} cannot be reached. The call did not run: try again`
          : `${issuer} gave you no access to ${upstream}. The call did not run`,
      )
    }
  }

  /** Exchanges the token of this call, once for all calls that came with it. */
  async function ensure(call: Call): Promise<void> {
    const holder = holderOf(call)
    const name = nameOf(holder)
    if (validOf(name)) return
    const token = callerToken(call.caller)
    if (token === undefined || call.caller.claims['iss'] !== issuer)
      throw unavailable(`${upstream} takes callers with a token of ${issuer}. The call did not run`)
    await getOrCreate(running, name, () => exchange(name, token, call).finally(() => running.delete(name)))
    if (lister && validOf(nameOf(lister))) return
    lister = holder
    await context.changed(holder, true)
  }

  /** Two tokens of one caller may allow different things, so they do not share a connection. */
  const credentialOf = (call: Call): string => sha256(callerToken(call.caller) ?? '').slice(0, 32)
  const holderOf = (call: Call): CredentialHolder => ({
    ...personOf(call, upstream),
    credential: credentialOf(call),
  })

  return {
    credentialOf,
    authorizationFor: (holder): Authorization => ({
      token() {
        const found = validOf(nameOf(holder))
        if (!found) throw signInMissing(upstream)
        return found.header
      },
      challenged() {
        // The next call exchanges again.
        tokens.delete(nameOf(holder))
        return Promise.resolve(false)
      },
    }),
    async admit(call, next) {
      await ensure(call)
      return next(call)
    },
    lister: () => Promise.resolve(lister && validOf(nameOf(lister)) ? lister : undefined),
  }
}
