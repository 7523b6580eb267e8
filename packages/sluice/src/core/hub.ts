/**
 * The events of one server. They are published on the bus and delivered to subscribers, and the most recent ones are
 * kept.
 */

import type { Bus } from './bus.ts'
import type { ServerEvent } from './call.ts'
import { listKinds } from './call.ts'
import type { Clock } from './clock.ts'
import { createHubListeners } from './hub-listeners.ts'
import { isObject } from './json.ts'
import type { Store } from './store.ts'

/** The events of one server, from every process. */
export interface Hub {
  /** Settles when no event published from then on is missed; `undefined` if that is the case already. */
  ready(): Promise<void> | undefined
  /**
   * Delivers events from now on. With `uris`, changes of other resources are not delivered. The returned function
   * unsubscribes.
   */
  subscribe(listener: (event: ServerEvent, position: string) => void, uris?: ReadonlySet<string>): () => void
  /** Delivers the kept events after that position, then continues like `subscribe`. */
  subscribeAfter(position: string, listener: (event: ServerEvent, position: string) => void): () => void
  /** Calls `then` when the server closes. The returned function unsubscribes. */
  onClose(then: () => void): () => void
}

export interface OwnedHub extends Hub {
  publish(event: ServerEvent): void
  /** Number of active listeners. */
  readonly listenerCount: number
  /** Ends all subscriptions. Events that running calls still publish are delivered by other processes. */
  closeSubscriptions(): void
  /** Settles when other processes can read all published events. */
  close(): Promise<void>
}

/** Creates the hub that connects the processes of one server: `sharedHub`. */
export type HubFactory = (shared: SharedServices, clock: Clock) => OwnedHub

/**
 * What the processes of a server share. The store is authoritative; the bus only signals. The store reaches this
 * server's keys only.
 */
export interface SharedServices {
  readonly store: Store
  readonly bus: Bus
  /** The server's name, for channels. */
  readonly name: string
}

export type HubListener = (event: ServerEvent, position: string) => void

/** Number of events that are kept for clients that reconnect. */
export const maxKeptEvents = 1000

export function createHub(bus: Bus, server: string): OwnedHub {
  const channel = `events ${server}`
  const listeners = createHubListeners()
  const closers = new Set<() => void>()
  const kept: { readonly event: ServerEvent; readonly position: string }[] = []
  let received = 0
  const unsubscribe = bus.subscribe(channel, (message) => {
    const event = parseEvent(message)
    if (!event) return
    const position = String(++received).padStart(16, '0')
    kept.push({ event, position })
    if (kept.length > maxKeptEvents) kept.shift()
    listeners.deliver(event, position)
  })
  return {
    ready: () => undefined,
    subscribe: listeners.add,
    subscribeAfter(after, listener) {
      for (const { event, position } of kept) if (position > after) listener(event, position)
      return listeners.add(listener)
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      // Delivery is a hint: an unavailable bus costs a notification, never a call.
      bus.publish(channel, JSON.stringify(event)).catch(() => {})
    },
    get listenerCount() {
      return listeners.size
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
  const list = listKinds.find((name) => name === kind)
  return list && { kind: list }
}
