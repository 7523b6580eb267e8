/**
 * Who may knock at all: Host and Origin, on by default. A web page the user visits can reach a server on localhost, by
 * name (DNS rebinding) or by a plain cross-origin POST; neither gets past this.
 */

import { RpcError } from '../../core/error.ts'
import { isLoopback } from '../../core/loopback.ts'

export interface GuardOptions {
  /**
   * Names this server is reached by, as in the Host header: `mcp.example.com`, which also serves the port it listens on,
   * or with a port where a proxy has another one. Loopback names on the port it listens on are always served.
   */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may call it, such as `https://app.example.com`; they also get CORS headers. */
  readonly origins?: readonly string[]
}

export interface Guard {
  /** `host` is the header, or `undefined` where it is missing or came twice; `port` is the one it arrived on. */
  check(host: string | undefined, origin: string | undefined, port: number | undefined): void
  /** Whether a page of this origin may read the answers. */
  allows(origin: string): boolean
}

export function createGuard({ hosts, origins = [] }: GuardOptions): Guard {
  const named = hosts && new Set(hosts.map((host) => host.toLowerCase()))
  const welcome = new Set(origins.map((origin) => origin.toLowerCase()))
  /** What passed last: nearly every request repeats it. */
  const known: { host?: string; origin?: string | undefined; port?: number | undefined } = {}

  function isOwn(host: string, port: number | undefined): boolean {
    if (named?.has(host)) return true
    const [name, own] = splitPort(host)
    // On the edge, which knows no port, loopback is for development alone: where nobody named a host.
    if (port === undefined) return named === undefined && isLoopback(name)
    return own === port && (isLoopback(name) || named?.has(name) === true)
  }
  function refuseHost(host: string | undefined): RpcError {
    const shown = host === undefined ? 'missing' : `"${host.slice(0, 128)}"`
    return new RpcError('badOrigin', `Host ${shown} is not served here; list the names it is reached by in "hosts"`)
  }
  return {
    check(host, origin, port) {
      if (host !== undefined && host === known.host && origin === known.origin && port === known.port) return
      if (host === undefined || !isOwn(host.toLowerCase(), port)) throw refuseHost(host)
      if (origin !== undefined && !welcome.has(origin.toLowerCase()) && !isSame(origin, host))
        throw new RpcError(
          'badOrigin',
          `Origin "${origin.slice(0, 128)}" may not call this server; list it in "origins"`,
        )
      Object.assign(known, { host, origin, port })
    },
    allows: (origin) => welcome.has(origin.toLowerCase()),
  }
}

const isSame = (origin: string, host: string): boolean =>
  origin.toLowerCase() === `http://${host.toLowerCase()}` || origin.toLowerCase() === `https://${host.toLowerCase()}`

function splitPort(host: string): [name: string, port: number] {
  const colon = host.lastIndexOf(':')
  if (colon === -1 || host.endsWith(']')) return [host, 80]
  return [host.slice(0, colon), /^\d+$/.test(host.slice(colon + 1)) ? Number(host.slice(colon + 1)) : Number.NaN]
}
