/** `upstream()`: an HTTP server behind the gateway. Commands are in `sluice/gateway-node`, because they need Node. */

import { ClientError } from '../client/errors.ts'
import type { HttpTransportOptions } from '../client/http/transport.ts'
import { httpTransport } from '../client/http/transport.ts'
import type { Transport } from '../client/transport.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import type { UpstreamAuth } from './auth/types.ts'
import type { Scope, ScopeKey } from './connections.ts'
import { assertRules } from './rule-checks.ts'
import { createTransportConnections } from './transport-connections.ts'
import type { Trust, Upstream, UpstreamContext, UpstreamSettings } from './types.ts'

/** Options of an upstream at a URL. */
export interface UrlUpstreamOptions
  extends UpstreamSettings,
    Pick<HttpTransportOptions, 'authorization' | 'allowHosts' | 'sender'> {
  /** The address of its Streamable HTTP endpoint. */
  readonly url: string | URL
  /** Headers of every request. A function is called for each new connection, so that a secret is read when it is needed. */
  readonly headers?: Headers | (() => Promise<Headers>)
  /**
   * The credential of each caller: `signIn({ … })` or `exchangeTokens({ … })` of `sluice/gateway-auth`. An
   * `authorization` in `headers` then only lists definitions.
   */
  readonly auth?: UpstreamAuth | undefined
  /** With `auth`: whether `headers` have an `authorization`. By default it is looked up, unless they are a function. */
  readonly hasListCredential?: boolean
}

type Headers = { readonly [name: string]: string }

const defaultMaxMessageBytes = 4 * 1024 * 1024
const scopes: readonly Scope[] = ['shared', 'tenant', 'caller', 'session']
const trusts: readonly Trust[] = ['first-use', 'review', 'always']

/** Defines an upstream at a URL: `upstream({ name: 'github', url: 'https://…/mcp' })`. */
export function upstream(options: UrlUpstreamOptions): Upstream {
  const { url, headers = {}, authorization, allowHosts, sender, auth, hasListCredential, ...settings } = options
  const { name } = settings
  if (!URL.canParse(String(url))) throw new TypeError(`upstream "${name}": "url" is not a valid URL`)
  if (auth && (authorization || (settings.scope ?? 'caller') !== 'caller'))
    throw new TypeError(
      `upstream "${name}": with "auth" each caller has a connection; omit "scope" and "authorization"`,
    )
  const http = omitUndefined({ authorization, allowHosts, sender })
  const made = overTransports(settings, async ({ clock, auth: callers }, maxMessageBytes, { holder }) => {
    const all = typeof headers === 'function' ? await headers().catch(notResolved(name)) : headers
    const common = { ...http, maxMessageBytes, clock }
    if (!callers || !holder) return httpTransport(url, { ...common, headers: all })
    return httpTransport(url, {
      ...common,
      headers: withoutCredential(all),
      authorization: callers.authorizationFor(holder),
    })
  })
  return {
    ...made,
    reaches: String(url),
    ...(auth && {
      hasListCredential:
        hasListCredential ?? (typeof headers !== 'function' && Object.keys(headers).some(isCredential)),
      auth: (context) => auth.open({ ...context, url: String(url), allowHosts, sender }),
    }),
  }
}

const isCredential = (header: string): boolean => header.toLowerCase() === 'authorization'

/** A caller must never use the operator's credential. */
const withoutCredential = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([header]) => !isCredential(header)))

const notResolved =
  (name: string) =>
  (cause: unknown): never => {
    const problem = cause instanceof Error ? cause.message : 'its headers are missing'
    throw new ClientError('unreachable', `${name} cannot be reached: ${problem}`, { mayHaveRun: false, cause })
  }

export function overTransports(
  settings: UpstreamSettings,
  open: (context: UpstreamContext, maxMessageBytes: number, key: ScopeKey) => Transport | Promise<Transport>,
): Upstream {
  const checked = checkSettings(settings)
  const { name, maxMessageBytes = defaultMaxMessageBytes } = checked
  return {
    ...checked,
    open: (context) =>
      createTransportConnections({ ...context, name, open: (key) => open(context, maxMessageBytes, key) }),
  }
}

/** Refuses settings that could not work. The name has no `_`, so that two prefixed names cannot be equal. */
export function checkSettings<S extends UpstreamSettings>(settings: S): S {
  const { name, scope, prefix, rules, trust } = settings
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    throw new TypeError(
      `upstream ${JSON.stringify(name)}: a name has 1 to 32 lower-case letters, digits and "-", and begins with a letter or digit`,
    )
  if (scope !== undefined && !scopes.includes(scope))
    throw new TypeError(`upstream "${name}": "scope" must be one of ${scopes.join(', ')}`)
  if (trust !== undefined && !trusts.includes(trust))
    throw new TypeError(`upstream "${name}": "trust" must be one of ${trusts.join(', ')}`)
  if (prefix !== undefined && !/^[A-Za-z0-9.-]{0,32}$/.test(prefix))
    throw new TypeError(`upstream "${name}": "prefix" has at most 32 letters, digits, "-" and "."`)
  if (rules) assertRules(name, rules)
  return settings
}
