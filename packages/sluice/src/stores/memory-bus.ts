/** The bus of a single process. */

import type { Bus } from '../core/bus.ts'

export function memoryBus(): Bus {
  const channels = new Map<string, Set<(message: string) => void>>()
  return {
    async publish(channel, message) {
      for (const hear of [...(channels.get(channel) ?? [])]) hear(message)
    },
    subscribe(channel, hear) {
      const hearers = channels.get(channel) ?? new Set()
      channels.set(channel, hearers.add(hear))
      return () => {
        hearers.delete(hear)
        if (hearers.size === 0) channels.delete(channel)
      }
    },
  }
}
