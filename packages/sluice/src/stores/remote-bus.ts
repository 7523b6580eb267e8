/** The part that the buses on Redis and PostgreSQL share: one subscription per channel, and a heartbeat. */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { notifySafely } from './memory-bus.ts'

interface OpenChannel {
  readonly listeners: Set<(message: string) => void>
  deliver(message: string): void
}

interface RemoteBusOptions {
  readonly clock: Clock
  publish(name: string, message: string): Promise<unknown>
  /** Subscribes on the connection that publishes, so that this process receives its next messages itself. */
  listen(name: string, channel: OpenChannel): Promise<unknown>
  unlisten(name: string, channel: OpenChannel): Promise<unknown>
  /** Uses the connection. While the server is unavailable this also reconnects, and subscribes again. */
  ping(): Promise<unknown>
  close(): Promise<void>
}

export interface RemoteBus extends Bus {
  /** The channels to subscribe to on a new connection. */
  readonly channels: ReadonlyMap<string, OpenChannel>
  close(): Promise<void>
}

/** How often the connection is used. Otherwise an open but dead one would miss messages unnoticed. */
const heartbeatMs = 1000

export function createRemoteBus(options: RemoteBusOptions): RemoteBus {
  const { clock, publish, listen, unlisten, ping, close } = options
  const channels = new Map<string, OpenChannel>()
  let cancelTimer: (() => void) | undefined
  let closed = false
  const startHeartbeat = (): void => {
    cancelTimer = clock.after(heartbeatMs, () => {
      ping().catch(() => {})
      startHeartbeat()
    })
  }
  const stopHeartbeat = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
  }
  function open(name: string): OpenChannel {
    const listeners: OpenChannel['listeners'] = new Set()
    const channel: OpenChannel = {
      listeners,
      deliver(message) {
        for (const each of [...listeners]) notifySafely(each, message)
      },
    }
    channels.set(name, channel)
    listen(name, channel).catch(() => {})
    if (!cancelTimer && !closed) startHeartbeat()
    return channel
  }
  return {
    channels,
    async publish(name, message) {
      await publish(name, message)
    },
    subscribe(name, listener) {
      const channel = channels.get(name) ?? open(name)
      const subscription = (message: string): void => listener(message)
      channel.listeners.add(subscription)
      return () => {
        if (!channel.listeners.delete(subscription) || channel.listeners.size > 0) return
        channels.delete(name)
        unlisten(name, channel).catch(() => {})
        if (channels.size === 0) stopHeartbeat()
      }
    },
    async close() {
      closed = true
      stopHeartbeat()
      channels.clear()
      await close()
    },
  }
}
