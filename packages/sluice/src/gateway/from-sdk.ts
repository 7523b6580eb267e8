/** `fromSdk()`: a server of the official SDK in this process, behind the gateway's layers, without bytes in between. */

import type { SdkTransport } from '../client/sdk-transport.ts'
import { fromSdkTransport } from '../client/sdk-transport.ts'
import type { Upstream, UpstreamSettings } from './types.ts'
import { overTransports } from './upstream.ts'

/** The part of an SDK server that is used: `McpServer` and `Server` of v1 and v2 have it. */
export interface SdkServer {
  connect(transport: never): Promise<void>
  close(): Promise<void>
}

/**
 * Options of `fromSdk`. `trust` is `always` by default, because the server is code of this program: every release of it
 * would wait for an operator otherwise.
 */
export interface FromSdkOptions extends Omit<UpstreamSettings, 'maxMessageBytes'> {
  /** Makes one server per connection. The SDK's servers serve one connection each. */
  readonly create: () => SdkServer | Promise<SdkServer>
}

/** Defines an upstream from a factory of official SDK servers: `fromSdk({ name: 'notes', create: () => server() })`. */
export function fromSdk({ create, ...settings }: FromSdkOptions): Upstream {
  return overTransports({ trust: 'always', ...settings }, () => {
    const [ours, theirs] = transportPair()
    let server: SdkServer | undefined
    const { close } = ours
    const transport: SdkTransport = Object.assign(ours, {
      async start() {
        server = await create()
        await server.connect(theirs as never)
      },
      async close() {
        await close()
        await server?.close()
      },
    })
    return fromSdkTransport(transport, settings.name)
  })
}

/** Returns two transports of the SDK's shape, each of which delivers what the other sends. */
function transportPair(): readonly [SdkTransport, SdkTransport] {
  const pair: readonly [SdkTransport, SdkTransport] = [side(() => pair[1]), side(() => pair[0])]
  let isClosed = false
  return pair
  function side(other: () => SdkTransport): SdkTransport {
    const transport: SdkTransport = {
      start: () => Promise.resolve(),
      send(message: unknown) {
        if (isClosed) return Promise.reject(new Error('This transport is closed'))
        // A copy, because neither side may change what the other holds; and later, because a reply may follow at once.
        const copy: unknown = structuredClone(message)
        queueMicrotask(() => other().onmessage?.(copy as never))
        return Promise.resolve()
      },
      close() {
        if (isClosed) return Promise.resolve()
        isClosed = true
        transport.onclose?.()
        other().onclose?.()
        return Promise.resolve()
      },
    }
    return transport
  }
}
