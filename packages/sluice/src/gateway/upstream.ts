/** `upstream()`: an HTTP server behind the gateway. Commands are in `sluice/gateway-node`, because they need Node. */

import type { HttpTransportOptions } from '../client/http/transport.ts'
import { httpTransport } from '../client/http/transport.ts'
import type { Transport } from '../client/transport.ts'
import type { Scope } from './connections.ts'
import { createTransportConnections } from './transport-connections.ts'
import type { Trust, Upstream, UpstreamSettings } from './types.ts'

/** Options of an upstream at a URL. */
export interface UrlUpstreamOptions
  extends UpstreamSettings,
    Pick<HttpTransportOptions, 'headers' | 'authorization' | 'allowHosts' | 'sender'> {
  /** The address of its Streamable HTTP endpoint. */
  readonly url: string | URL
}

const defaultMaxMessageBytes = 4 * 1024 * 1024
const scopes: readonly Scope[] = ['shared', 'tenant', 'caller', 'session']
const trusts: readonly Trust[] = ['first-use', 'review', 'always']

/** Defines an upstream at a URL: `upstream({ name: 'github', url: 'https://…/mcp' })`. */
export function upstream(options: UrlUpstreamOptions): Upstream {
  const { url, headers, authorization, allowHosts, sender, ...settings } = options
  if (!URL.canParse(String(url))) throw new TypeError(`upstream "${settings.name}": "url" is not a valid URL`)
  const http = omitUndefined({ headers, authorization, allowHosts, sender })
  const made = overTransports(settings, (clock, maxMessageBytes) =>
    httpTransport(url, { ...http, maxMessageBytes, clock }),
  )
  return { ...made, reaches: String(url) }
}

/** Returns an upstream whose connections are transports that `open` makes. */
export function overTransports(
  settings: UpstreamSettings,
  open: (clock: Parameters<Upstream['open']>[0]['clock'], maxMessageBytes: number) => Transport,
): Upstream {
  const checked = checkSettings(settings)
  const { name, maxMessageBytes = defaultMaxMessageBytes } = checked
  return {
    ...checked,
    open: ({ clock, connect }) =>
      createTransportConnections({ name, clock, connect, open: () => open(clock, maxMessageBytes) }),
  }
}

/** Refuses settings that could not work. The name has no `_`, so that two prefixed names cannot be equal. */
export function checkSettings<S extends UpstreamSettings>(settings: S): S {
  const { name, scope, prefix, trust } = settings
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
  return settings
}

const omitUndefined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
