/** The bus of a single process. */

import type { Bus } from '../core/bus.ts'

export function memoryBus(): Bus {
  const channels = new Map<string, Set<(message: string) => void>>()
  return {
    async publish(channel, message) {
      for (const hear of [...(channels.get(channel) ?? [])]) notifySafely(hear, message)
    },
    subscribe(channel, hear) {
      const hearers = channels.get(channel) ?? new Set()
      // A function of its own: the same one subscribed twice hears twice, and ends twice.
      const own = (message: string): void => hear(message)
      channels.set(channel, hearers.add(own))
      return () => {
        hearers.delete(own)
        if (hearers.size === 0 && channels.get(channel) === hearers) channels.delete(channel)
      }
    },
  }
}

/** What one hearer throws must reach neither the other hearers nor whoever published. */
export function notifySafely(hear: (message: string) => void, message: string): void {
  try {
    hear(message)
  } catch {
    // Its own affair: a bus only wakes, and the truth is in the store.
  }
}
