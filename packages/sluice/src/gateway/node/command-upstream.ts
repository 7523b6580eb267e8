/** `upstream({ command })`: a server that the gateway starts as a process, one per scope key. */

import { omitUndefined } from '../../core/omit-undefined.ts'
import { createShared } from '../../core/shared.ts'
import type { Connections } from '../connections.ts'
import type { Upstream, UpstreamContext, UpstreamSettings } from '../types.ts'
import { checkSettings } from '../upstream.ts'
import { createProcessConnections } from './process-connections.ts'
import { createProcessHost, type ProcessHost, type ProcessLimits } from './process-host.ts'
import type { ProcessSpec } from './process-transport.ts'

/** Options of an upstream that is a command. */
export interface CommandUpstreamOptions extends UpstreamSettings, ProcessSpec {
  /** How long a process may be without a call before it is ended. 5 minutes by default. */
  readonly idleMs?: number
  /** How long start and handshake may take. 30 seconds by default. */
  readonly startMs?: number
}

/** An upstream that is a command. Its processes can share the host of a gateway. */
export interface CommandUpstream extends Upstream {
  /** Returns the same upstream, with its processes on this host. */
  withHost(host: SharedHost): Upstream
}

export function commandUpstream(options: CommandUpstreamOptions): CommandUpstream {
  const { command, args, env, hide, cwd, user, idleMs, startMs, ...settings } = options
  const { name, maxMessageBytes = defaultMaxMessageBytes } = checkSettings(settings)
  if (command === '') throw new TypeError(`upstream "${name}": "command" is empty`)
  const spec: ProcessSpec = { name, command, ...omitUndefined({ args, env, hide, cwd, user }) }
  const withHost = (shared: SharedHost): Upstream => ({
    ...settings,
    isProcess: true,
    reaches: JSON.stringify([command, args ?? [], cwd ?? '']),
    open(context) {
      const { joined: host, leave } = shared.join(context)
      const connections = createProcessConnections(spec, {
        ...{ host, connect: (transport) => context.connect(transport), maxMessageBytes },
        ...omitUndefined({ idleMs, startMs }),
      })
      return {
        ...connections,
        async close() {
          try {
            await connections.close()
          } finally {
            await leave()
          }
        },
      } satisfies Connections
    },
  })
  return { ...withHost(createSharedHost()), withHost }
}

/** Smaller than the client's own limit, because many callers share the memory of the gateway. */
const defaultMaxMessageBytes = 4 * 1024 * 1024

/** The process host of one gateway: made for the first upstream that opens, and closed with the last. */
export interface SharedHost {
  join(context: Pick<UpstreamContext, 'clock' | 'logger'>): { readonly joined: ProcessHost; leave(): Promise<void> }
}

export function createSharedHost(limits: ProcessLimits = {}): SharedHost {
  const shared = createShared<ProcessHost>()
  return { join: ({ clock, logger }) => shared.join(() => createProcessHost({ ...limits, clock, logger })) }
}
