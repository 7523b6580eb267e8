/**
 * The listeners of a hub. Those that name their resources are found by URI. Otherwise each change of one resource would
 * visit every subscription, and ten thousand of them would take more than a millisecond of the event loop.
 */

import type { ServerEvent } from './call.ts'
import type { HubListener } from './hub.ts'

export interface HubListeners {
  /** Adds a listener. With `uris`, changes of other resources are not delivered to it. */
  add(listener: HubListener, uris?: ReadonlySet<string>): () => void
  deliver: HubListener
  readonly size: number
}

export function createHubListeners(): HubListeners {
  const all = new Set<HubListener>()
  /** The listeners of each URI. Those of every resource are under `undefined`. */
  const byUri = new Map<string | undefined, Set<HubListener>>()
  const of = (event: ServerEvent): Iterable<HubListener> =>
    event.kind === 'resource' ? [...(byUri.get(event.uri) ?? []), ...(byUri.get(undefined) ?? [])] : [...all]
  return {
    add(listener, uris) {
      const keys = uris ?? [undefined]
      all.add(listener)
      for (const key of keys) {
        const found = byUri.get(key)
        if (found) found.add(listener)
        else byUri.set(key, new Set([listener]))
      }
      return () => {
        all.delete(listener)
        for (const key of keys) {
          const found = byUri.get(key)
          found?.delete(listener)
          if (found?.size === 0) byUri.delete(key)
        }
      }
    },
    deliver(event, position) {
      for (const listener of of(event)) listener(event, position)
    },
    get size() {
      return all.size
    },
  }
}
