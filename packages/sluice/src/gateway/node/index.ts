/**
 * `sluice/gateway-node`: the gateway on Node. Upstreams may be commands, connections are kept, and addresses are checked.
 */

import { createSocketSender } from '../../client/node/socket-sender.ts'
import { gateway as portableGateway } from '../gateway.ts'
import type { Gateway, GatewayOptions, Upstream } from '../types.ts'
import type { UrlUpstreamOptions } from '../upstream.ts'
import { upstream as urlUpstream } from '../upstream.ts'
import type { CommandUpstreamOptions } from './command-upstream.ts'
import { type CommandUpstream, commandUpstream, createSharedHost } from './command-upstream.ts'
import type { ProcessLimits } from './process-host.ts'

export * from '../index.ts'
export type { CommandUpstreamOptions } from './command-upstream.ts'
export type { ProcessLimits } from './process-host.ts'
export type { ProcessSpec, ProcessVariables } from './process-transport.ts'

/** Options of `gateway` on Node. */
export interface NodeGatewayOptions extends GatewayOptions {
  /** How many processes the upstreams of this gateway have, in all and per tenant. */
  readonly processes?: ProcessLimits
}

/** Puts MCP servers behind the layers of a Sluice server. Its processes share one guard and one set of limits. */
export function gateway({ processes = {}, ...options }: NodeGatewayOptions): Gateway {
  const host = createSharedHost(processes)
  return portableGateway({
    ...options,
    upstreams: options.upstreams.map((each) => (isCommand(each) ? each.withHost(host) : each)),
  })
}

const isCommand = (upstream: Upstream): upstream is CommandUpstream => 'withHost' in upstream

/**
 * Defines an upstream: `upstream({ name, command, args })` for a process, `upstream({ name, url })` for a server at a
 * URL, whose requests go over `node:http` with a pool of connections for this upstream.
 */
export function upstream(options: CommandUpstreamOptions | UrlUpstreamOptions): Upstream {
  if ('command' in options) return commandUpstream(options)
  if (options.sender) return urlUpstream(options)
  const sender = createSocketSender({ maxConnections: 256 })
  const made = urlUpstream({ ...options, sender: sender.send })
  return {
    ...made,
    open(context) {
      const connections = made.open(context)
      return {
        ...connections,
        async close() {
          await connections.close()
          sender.close()
        },
      }
    },
  }
}
