/** `sluice/gateway-node`: the gateway on Node, with connections that are kept and addresses that are checked. */

import { createNodeSender } from '../../client/node/sender.ts'
import type { Upstream } from '../types.ts'
import type { UrlUpstreamOptions } from '../upstream.ts'
import { upstream as urlUpstream } from '../upstream.ts'

export * from '../index.ts'

/** Defines an upstream at a URL. Its requests go over `node:http`, with a pool of connections for this upstream. */
export function upstream(options: UrlUpstreamOptions): Upstream {
  if (options.sender) return urlUpstream(options)
  const sender = createNodeSender({ maxConnections: 256 })
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
