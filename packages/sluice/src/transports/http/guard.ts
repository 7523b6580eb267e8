/**
 * Checks Host and Origin, by default. A web page that the user visits can reach a server on localhost, by name (DNS
 * rebinding) or by a plain cross-origin POST. This check refuses both.
 */

import { RpcError } from '../../core/error.ts'
import { isLoopback } from '../../core/loopback.ts'

export interface GuardOptions {
  /**
   * The host names of this server, as in the Host header. `mcp.example.com` also accepts the port that the server
   * listens on; write another port if a proxy has one. Loopback names on the server's port are always accepted, and
   * so is the host of the `resource` of `oauth`. By default only they are, so that DNS rebinding cannot reach the server.
   */
  readonly hosts?: readonly string[]
  /**
   * Origins of web pages that may call the server, such as `https://app.example.com`. They get CORS headers. By default
   * none.
   */
  readonly origins?: readonly string[]
}

export interface Guard {
  /**
   * Throws if the request is refused. `host` is `undefined` if the header is missing or was sent twice; `port` is the
   * local one.
   */
  check(host: string | undefined, origin: string | undefined, port: number | undefined): void
  /** Whether a page of this origin may read the answers. */
  allows(origin: string): boolean
}

/** Creates the check. `publicHost` is accepted too: it is the host of the resource that the server's tokens name. */
export function createGuard({ hosts, origins = [] }: GuardOptions, publicHost?: string): Guard {
  const named = publicHost === undefined ? [] : [publicHost]
  const hostNames = new Set([...(hosts ?? []), ...named].map((host) => host.toLowerCase()))
  const allowed = new Set(origins.map((origin) => origin.toLowerCase()))
  /** The last accepted request, because nearly every request repeats it. */
  const last: { host?: string; origin?: string | undefined; port?: number | undefined } = {}

  function isAllowedHost(host: string, port: number | undefined): boolean {
    if (hostNames.has(host)) return true
    const [name, hostPort] = splitPort(host)
    // The edge does not know the port. There loopback is for development only, when "hosts" is not set.
    if (port === undefined) return hosts === undefined && isLoopback(name)
    return hostPort === port && (isLoopback(name) || hostNames.has(name))
  }
  function refuseHost(host: string | undefined): RpcError {
    const quoted = host === undefined ? 'missing' : `"${host.slice(0, 128)}"`
    return new RpcError('badOrigin', `Host ${quoted} is not allowed: list the names of this server in "hosts"`)
  }
  return {
    check(host, origin, port) {
      if (host !== undefined && host === last.host && origin === last.origin && port === last.port) return
      if (host === undefined || !isAllowedHost(host.toLowerCase(), port)) throw refuseHost(host)
      if (origin !== undefined && !allowed.has(origin.toLowerCase()) && !isSameOrigin(origin, host))
        throw new RpcError(
          'badOrigin',
          `Origin "${origin.slice(0, 128)}" may not call this server: list it in "origins"`,
        )
      Object.assign(last, { host, origin, port })
    },
    allows: (origin) => allowed.has(origin.toLowerCase()),
  }
}

const isSameOrigin = (origin: string, host: string): boolean =>
  origin.toLowerCase() === `http://${host.toLowerCase()}` || origin.toLowerCase() === `https://${host.toLowerCase()}`

function splitPort(host: string): [name: string, port: number] {
  const colon = host.lastIndexOf(':')
  if (colon === -1 || host.endsWith(']')) return [host, 80]
  return [host.slice(0, colon), /^\d+$/.test(host.slice(colon + 1)) ? Number(host.slice(colon + 1)) : Number.NaN]
}
