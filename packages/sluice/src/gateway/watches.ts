/**
 * Subscriptions of clients to resources of upstreams. Callers that share a connection share one subscription per URI. An
 * update is published to the subscribers of the tenants that subscribed, and to no other. A connection that ends takes its
 * subscriptions with it, so they are made again on the next one.
 */

import { ServerError } from '../client/errors.ts'
import type { Subscription } from '../client/subscriptions.ts'
import type { Call } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { getOrCreate } from '../core/get-or-create.ts'
import type { Logger } from '../core/log.ts'
import { createStop } from '../core/stop.ts'
import type { ConnectionLease, Connections, Scope, ScopeKey } from './connections.ts'
import { scopeKeyOf } from './scope.ts'

export interface WatchDeps {
  readonly name: string
  readonly scope: Scope
  readonly connections: Connections
  readonly clock: Clock
  /** Returns what separates the connections of one caller besides the caller. */
  credentialOf?: ((call: Call) => string) | undefined
  readonly logger: Logger
}

export interface Watches {
  /**
   * Subscribes upstream, if no call with this connection has. The returned function ends it. `shown` is the URI that
   * clients know.
   */
  watch(uri: string, call: Call, isWanted: () => boolean, shown?: string): () => void
  close(): void
}

/** A client that subscribed, with what its server publishes to its tenant. */
interface Subscriber {
  isWanted(): boolean
  readonly publish: Call['publish']
  readonly tenant: string
  readonly shown: string
}
interface WatchedResource {
  readonly subscribers: Set<Subscriber>
  /** Tells the subscribers that the resource changed, or may have changed. */
  changed(): void
  subscription: Subscription | undefined
  isEnded: boolean
}
interface Group {
  readonly key: ScopeKey
  readonly byUri: Map<string, WatchedResource>
  /** `undefined` between the end of a connection and the next attempt. */
  lease: Promise<ConnectionLease> | undefined
  retryMs: number
  cancelRetry(): void
}

/** Maximum URIs per connection, and how often watches that no client wants are ended. */
const maxPerConnection = 1000
const sweepMs = 30_000
const firstRetryMs = 1000
const maxRetryMs = 60_000

export function createWatches({ name, scope, connections, clock, logger, credentialOf }: WatchDeps): Watches {
  const groups = new Map<string, Group>()
  let cancelSweep: (() => void) | undefined

  function sweep(): void {
    cancelSweep = undefined
    for (const group of [...groups.values()])
      for (const [uri, { subscribers }] of [...group.byUri]) {
        for (const subscriber of [...subscribers]) if (!subscriber.isWanted()) subscribers.delete(subscriber)
        if (subscribers.size === 0) end(group, uri)
      }
    if (groups.size > 0) cancelSweep = clock.after(sweepMs, sweep)
  }

  function end(group: Group, uri: string): void {
    const watch = group.byUri.get(uri)
    if (!watch) return
    watch.isEnded = true
    group.byUri.delete(uri)
    watch.subscription?.close().catch(() => {})
    if (group.byUri.size > 0) return
    groups.delete(group.key.text)
    group.cancelRetry()
    release(group.lease)
  }
  const release = (lease: Group['lease']): unknown =>
    lease?.then(
      (held) => held.release(),
      () => {},
    )

  function open(group: Group): void {
    group.lease = (async () => connections.acquire(group.key, createStop()))()
    for (const [uri, watch] of [...group.byUri]) begin(group, uri, watch)
  }

  function begin(group: Group, uri: string, watch: WatchedResource): void {
    const { lease } = group
    if (!lease) return
    subscribe(group, lease, uri, watch).catch((thrown: unknown) => {
      logger.warn({ event: 'upstreamNotSubscribed', upstream: name, message: messageOf(thrown) })
      // An upstream that refuses one resource refuses it again. A connection that failed is opened again.
      if (thrown instanceof ServerError) end(group, uri)
      else lost(group, lease)
    })
  }

  async function subscribe(
    group: Group,
    lease: Promise<ConnectionLease>,
    uri: string,
    watch: WatchedResource,
  ): Promise<void> {
    const { client } = await lease
    const subscription = await client.subscribe(
      { resourceSubscriptions: [uri] },
      {
        notification(method, params) {
          if (method === 'notifications/resources/updated' && params['uri'] === uri) watch.changed()
        },
        // Changes in between were missed, so the client reads again.
        reopened: watch.changed,
        ended: () => lost(group, lease),
      },
    )
    if (watch.isEnded || group.lease !== lease) return subscription.close()
    watch.subscription = subscription
    if (group.retryMs > firstRetryMs) watch.changed()
  }

  function lost(group: Group, lease: Promise<ConnectionLease>): void {
    if (group.lease !== lease) return
    group.lease = undefined
    release(lease)
    for (const watch of group.byUri.values()) {
      watch.subscription?.close().catch(() => {})
      watch.subscription = undefined
    }
    if (group.byUri.size === 0) return
    group.cancelRetry = clock.after(group.retryMs, () => open(group))
    group.retryMs = Math.min(group.retryMs * 2, maxRetryMs)
  }

  function openGroup(key: ScopeKey): Group {
    const group: Group = { key, byUri: new Map(), lease: undefined, retryMs: firstRetryMs, cancelRetry: () => {} }
    groups.set(key.text, group)
    open(group)
    return group
  }

  return {
    watch(uri, call, isWanted, shown = uri) {
      const key = scopeKeyOf(scope, call, credentialOf?.(call))
      const group = groups.get(key.text) ?? openGroup(key)
      cancelSweep ??= clock.after(sweepMs, sweep)
      let watch = group.byUri.get(uri)
      if (!watch) {
        if (group.byUri.size >= maxPerConnection) return () => {}
        watch = watchedResource()
        group.byUri.set(uri, watch)
        begin(group, uri, watch)
      }
      const { subscribers } = watch
      const subscriber = { isWanted, publish: call.publish, tenant: call.tenant.id, shown }
      subscribers.add(subscriber)
      return () => {
        if (subscribers.delete(subscriber) && subscribers.size === 0) end(group, uri)
      }
    },
    close() {
      cancelSweep?.()
      for (const group of [...groups.values()]) for (const uri of [...group.byUri.keys()]) end(group, uri)
    },
  }
}

function watchedResource(): WatchedResource {
  const subscribers = new Set<Subscriber>()
  return {
    subscribers,
    changed() {
      // Once for all clients of a tenant on one server, under each name that they know.
      const published = new Map<Subscriber['publish'], Set<string>>()
      for (const { publish, tenant, shown } of subscribers) {
        const names = getOrCreate(published, publish, () => new Set<string>())
        const name = JSON.stringify([tenant, shown])
        if (!names.has(name)) publish({ kind: 'resource', uri: shown, tenant })
        names.add(name)
      }
    },
    subscription: undefined,
    isEnded: false,
  }
}
