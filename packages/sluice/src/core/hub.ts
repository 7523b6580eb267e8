/** The events of one server: published on the bus, handed to whoever subscribed, and the last of them kept. */

import type { Bus } from './bus.ts'
import type { ServerEvent } from './call.ts'
import type { Clock } from './clock.ts'
import { isObject } from './json.ts'
import type { Store } from './store.ts'

/** The events of one server, wherever they were published. */
export interface Hub {
  /** Settles when nothing published from then on is missed; `undefined` where that is so already. */
  ready(): Promise<void> | undefined
  /** From now on; the returned function ends it. */
  subscribe(hear: (event: ServerEvent, position: string) => void): () => void
  /** What was published after that position and is still known, then as above. */
  subscribeAfter(position: string, hear: (event: ServerEvent, position: string) => void): () => void
  /** Calls `then` when the server closes; the returned function forgets it. */
  onClose(then: () => void): () => void
}

export interface OwnedHub extends Hub {
  publish(event: ServerEvent): void
  /** How many hear. */
  readonly listenerCount: number
  /** Ends subscriptions. What calls under way still publish is heard elsewhere. */
  closeSubscriptions(): void
  /** Settles when what was published can be read by others. */
  close(): Promise<void>
}

/** How the processes of one server tell each other; `sharedHub`. */
export type HubFactory = (shared: SharedServices, clock: Clock) => OwnedHub

/** The store is the truth, the bus only wakes. The store is this server's own: it does not reach other servers' keys. */
export interface SharedServices {
  readonly store: Store
  readonly bus: Bus
  /** The server's, for channels. */
  readonly name: string
}

export type HubListener = (event: ServerEvent, position: string) => void

/** How many, so that a client that comes back finds what it missed. */
export const maxKeptEvents = 1000

export function createHub(bus: Bus, server: string): OwnedHub {
  const channel = `events ${server}`
  const hearers = new Set<HubListener>()
  const closers = new Set<() => void>()
  const kept: { readonly event: ServerEvent; readonly position: string }[] = []
  let heard = 0
  const unsubscribe = bus.subscribe(channel, (message) => {
    const event = parseEvent(message)
    if (!event) return
    const position = String(++heard).padStart(16, '0')
    kept.push({ event, position })
    if (kept.length > maxKeptEvents) kept.shift()
    for (const hear of [...hearers]) hear(event, position)
  })
  const subscribe: Hub['subscribe'] = (hear) => {
    hearers.add(hear)
    return () => hearers.delete(hear)
  }
  return {
    ready: () => undefined,
    subscribe,
    subscribeAfter(after, hear) {
      for (const { event, position } of kept) if (position > after) hear(event, position)
      return subscribe(hear)
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      // It only wakes: a bus that is away costs a notification, never a call.
      bus.publish(channel, JSON.stringify(event)).catch(() => {})
    },
    get listenerCount() {
      return hearers.size
    },
    closeSubscriptions() {
      for (const then of [...closers]) then()
    },
    async close() {
      unsubscribe()
    },
  }
}

export function parseEvent(message: string): ServerEvent | undefined {
  const event: unknown = JSON.parse(message)
  if (!isObject(event)) return undefined
  const { kind, uri, tenant } = event
  if (kind === 'resource')
    return typeof uri === 'string' ? { kind, uri, ...(typeof tenant === 'string' && { tenant }) } : undefined
  return kind === 'tools' || kind === 'prompts' || kind === 'resources' ? { kind } : undefined
}
