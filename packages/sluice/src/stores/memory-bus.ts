/** The bus within a single process. */

import type { Bus } from '../core/bus.ts'

export function memoryBus(): Bus {
  const channels = new Map<string, Set<(message: string) => void>>()
  return {
    async publish(channel, message) {
      for (const listener of [...(channels.get(channel) ?? [])]) notifySafely(listener, message)
    },
    subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set()
      // A new function each time, so that a listener that subscribes twice is called twice and unsubscribes twice.
      const subscription = (message: string): void => listener(message)
      channels.set(channel, listeners.add(subscription))
      return () => {
        listeners.delete(subscription)
        if (listeners.size === 0 && channels.get(channel) === listeners) channels.delete(channel)
      }
    },
  }
}

/** Calls a listener, and ignores its errors. They must reach neither the other listeners nor the publisher. */
export function notifySafely(listener: (message: string) => void, message: string): void {
  try {
    listener(message)
  } catch {
    // Delivery is only a hint. The state is in the store.
  }
}
