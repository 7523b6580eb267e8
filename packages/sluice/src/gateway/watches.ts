/**
 * Subscriptions of clients to resources of upstreams. Callers that share a connection share one subscription per URI. An
 * update is published to the subscribers of the tenant that subscribed, and to no other.
 */

import type { Subscription } from '../client/subscriptions.ts'
import type { Call } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { createStop } from '../core/stop.ts'
import type { ConnectionLease, Connections, Scope } from './connections.ts'
import { scopeKeyOf } from './scope.ts'

export interface WatchDeps {
  /** The upstream's name. */
  readonly name: string
  readonly scope: Scope
  readonly connections: Connections
  readonly clock: Clock
  credentialOf?: ((call: Call) => string) | undefined
  readonly logger: Logger
}

export interface Watches {
  /** Subscribes upstream, if no call with this connection has. The returned function ends it. */
  watch(uri: string, call: Call, isWanted: () => boolean): () => void
  close(): void
}

interface WatchedResource {
  readonly watchers: Set<() => boolean>
  subscription: Subscription | undefined
  isEnded: boolean
}
/** The watches on one connection. */
interface Group {
  readonly lease: Promise<ConnectionLease>
  readonly byUri: Map<string, WatchedResource>
}

/** Maximum URIs per connection, and how often watches that no client wants are ended. */
const maxPerConnection = 1000
const sweepMs = 30_000

export function createWatches({ name, scope, connections, clock, logger, credentialOf }: WatchDeps): Watches {
  const groups = new Map<string, Group>()
  let cancelSweep: (() => void) | undefined

  function sweep(): void {
    cancelSweep = undefined
    for (const [key, { byUri }] of [...groups])
      for (const [uri, { watchers }] of [...byUri]) {
        for (const isWanted of [...watchers]) if (!isWanted()) watchers.delete(isWanted)
        if (watchers.size === 0) end(key, uri)
      }
    if (groups.size > 0) cancelSweep = clock.after(sweepMs, sweep)
  }

  function end(key: string, uri: string): void {
    const group = groups.get(key)
    const watch = group?.byUri.get(uri)
    if (!group || !watch) return
    watch.isEnded = true
    group.byUri.delete(uri)
    watch.subscription?.close().catch(() => {})
    if (group.byUri.size > 0) return
    groups.delete(key)
    group.lease.then(
      (lease) => lease.release(),
      () => {},
    )
  }

  async function subscribe(
    group: Group,
    watch: WatchedResource,
    uri: string,
    { publish, tenant }: Call,
  ): Promise<void> {
    const { client } = await group.lease
    const subscription = await client.subscribe(
      { resourceSubscriptions: [uri] },
      {
        notification(method, params) {
          if (method === 'notifications/resources/updated' && params['uri'] === uri)
            publish({ kind: 'resource', uri, tenant: tenant.id })
        },
        // Changes in between were missed, so the client reads again.
        reopened: () => publish({ kind: 'resource', uri, tenant: tenant.id }),
      },
    )
    if (watch.isEnded) await subscription.close()
    else watch.subscription = subscription
  }

  return {
    watch(uri, call, isWanted) {
      const key = scopeKeyOf(scope, call, credentialOf?.(call))
      let group = groups.get(key.text)
      if (!group) {
        const acquired = (async () => connections.acquire(key, createStop()))()
        group = { lease: acquired, byUri: new Map() }
        groups.set(key.text, group)
      }
      cancelSweep ??= clock.after(sweepMs, sweep)
      let watch = group.byUri.get(uri)
      if (!watch) {
        if (group.byUri.size >= maxPerConnection) return () => {}
        watch = { watchers: new Set(), subscription: undefined, isEnded: false }
        group.byUri.set(uri, watch)
        subscribe(group, watch, uri, call).catch((thrown: unknown) => {
          const message = thrown instanceof Error ? thrown.message.slice(0, 300) : ''
          logger.warn({ event: 'upstreamNotSubscribed', upstream: name, message })
          end(key.text, uri)
        })
      }
      const { watchers } = watch
      watchers.add(isWanted)
      return () => {
        if (watchers.delete(isWanted) && watchers.size === 0) end(key.text, uri)
      }
    },
    close() {
      cancelSweep?.()
      for (const [key, { byUri }] of [...groups]) for (const uri of [...byUri.keys()]) end(key, uri)
    },
  }
}
