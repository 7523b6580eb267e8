/**
 * The store and the bus for many processes behind a load balancer. Each verb is one command or one script, by Redis's
 * clock.
 *
 * Acknowledged writes are as safe as Redis is configured; `checkRedisDurability` checks that. Every entry has a member
 * in one sorted set (O(log n) per write, about 100 bytes), so that `list` is a range and never a SCAN.
 */

import type { Bus } from '../core/bus.ts'
import { systemClock } from '../core/clock.ts'
import { sharedHub } from '../core/shared-hub.ts'
import type { Key, Store, StoreEntry } from '../core/store.ts'
import {
  checkedValue,
  compareEncoded,
  decodeKey,
  encodeKey,
  endOfPrefix,
  takeToken,
  toPageSize,
  toTtlMs,
} from './memory.ts'
import { notifySafely } from './memory-bus.ts'
import type { RedisConnection, RedisOptions } from './redis-connection.ts'
import { createRedisConnection, namePrefix } from './redis-connection.ts'
import { checkRedisDurability } from './redis-durability.ts'
import type { Script } from './redis-scripts.ts'
import * as scripts from './redis-scripts.ts'

export type { RedisOptions } from './redis-connection.ts'
export { checkRedisDurability } from './redis-durability.ts'

/** A store that processes share over Redis. */
export interface RedisStore extends Store {
  /** Closes the connection after running calls. Later calls are refused with `storeUnavailable`. */
  close(): Promise<void>
}

/**
 * Creates a store on Redis, which connects on first use. While Redis is unavailable, calls are refused with
 * `storeUnavailable`, and reconnecting happens in the background.
 */
export function redisStore(options: RedisOptions): RedisStore {
  const names = namePrefix(options)
  const connection = createRedisConnection(options)
  const run = (script: Script, ...args: readonly string[]): Promise<unknown> =>
    evaluate(connection, script, ['1', names, ...args])
  return {
    shared: sharedHub,
    checkDurability: () => checkRedisDurability(options),
    async get(key) {
      const name = `${names}v:${encodeKey(key)}`
      return (await connection.run((client) => client.sendCommand<string | null>(['GET', name]))) ?? undefined
    },
    async set(key, value, ttlMs) {
      await run(scripts.set, encodeKey(key), checkedValue(value), toTtlArgument(ttlMs))
    },
    async swap(key, from, to, ttlMs) {
      const expected = from === undefined ? [] : [checkedValue(from)]
      return (await run(scripts.swap, encodeKey(key), checkedValue(to), toTtlArgument(ttlMs), ...expected)) === 1
    },
    async delete(key) {
      await run(scripts.remove, encodeKey(key))
    },
    async take(key, bucket) {
      // Throws for an invalid bucket, because a rate of 0 would make one that never expires.
      takeToken(undefined, bucket, 0)
      return Number(await run(scripts.take, encodeKey(key), String(bucket.burst), String(bucket.perSecond)))
    },
    async append(key, value, ttlMs): Promise<Key> {
      return [...key, String(await run(scripts.append, encodeKey(key), checkedValue(value), toTtlArgument(ttlMs)))]
    },
    async list(prefix, { limit, after }) {
      const [below, size] = [encodeKey(prefix), toPageSize(limit)]
      const start = after ? encodeKey(after) : below
      const entries: StoreEntry[] = []
      let from = `(${compareEncoded(start, below) > 0 ? start : below}`
      // More than one round is needed only after ten thousand expired keys.
      while (from !== '' && entries.length < size) {
        const remaining = String(size - entries.length)
        const [next, found] = (await run(scripts.list, from, `(${endOfPrefix(below)}`, remaining)) as [string, string[]]
        for (let i = 0; i < found.length; i += 2)
          entries.push({ key: decodeKey(found[i] ?? ''), value: found[i + 1] ?? '' })
        from = next
      }
      return entries
    },
    close: () => connection.close(),
  }
}

const toTtlArgument = (ttlMs: number | undefined): string => {
  const ms = toTtlMs(ttlMs)
  return ms === Number.POSITIVE_INFINITY ? '' : String(ms)
}

/**
 * Runs a script by its hash, or by its text if Redis has forgotten it (restart, failover, SCRIPT FLUSH). A forgotten
 * script has not run.
 */
const evaluate = (connection: RedisConnection, { sha, source }: Script, args: readonly string[]): Promise<unknown> =>
  connection.run((client) =>
    client.sendCommand(['EVALSHA', sha, ...args]).catch((thrown: unknown) => {
      if (thrown instanceof Error && thrown.message.startsWith('NOSCRIPT'))
        return client.sendCommand(['EVAL', source, ...args])
      throw thrown
    }),
  )

/** A bus that processes share over Redis. */
export interface RedisBus extends Bus {
  close(): Promise<void>
}

/** How often the connection is pinged. Otherwise an open but dead one would miss messages unnoticed. */
const heartbeatMs = 1000

/** Publishes and subscribes over Redis. A process that missed a message reads the store. */
export function redisBus(options: RedisOptions): RedisBus {
  const names = `${namePrefix(options)}bus:`
  const clock = options.clock ?? systemClock
  const channels = new Map<
    string,
    { readonly listeners: Set<(message: string) => void>; deliver(message: string): void }
  >()
  const connection = createRedisConnection(options, {
    async onOpen(client) {
      await Promise.all([...channels].map(([channel, { deliver }]) => client.subscribe(names + channel, deliver)))
    },
  })
  let cancelTimer: (() => void) | undefined
  const startHeartbeat = (): void => {
    cancelTimer = clock.after(heartbeatMs, () => {
      // While Redis is unavailable this also reconnects, and subscribes again.
      connection.run((client) => client.sendCommand(['PING'])).catch(() => {})
      startHeartbeat()
    })
  }
  const stopHeartbeat = (): void => {
    cancelTimer?.()
    cancelTimer = undefined
  }
  return {
    async publish(channel, message) {
      await connection.run((client) => client.sendCommand(['PUBLISH', names + channel, checkedValue(message)]))
    },
    subscribe(channel, listener) {
      const subscription = (message: string): void => listener(message)
      let known = channels.get(channel)
      if (!known) {
        const listeners = new Set<(message: string) => void>()
        const deliver = (message: string): void => {
          for (const each of [...listeners]) notifySafely(each, message)
        }
        known = { listeners, deliver }
        channels.set(channel, known)
        // On the connection that publishes, so that this process receives its next messages itself.
        connection.run((client) => client.subscribe(names + channel, deliver)).catch(() => {})
      }
      const { listeners } = known
      listeners.add(subscription)
      if (!cancelTimer) startHeartbeat()
      return () => {
        if (!listeners.delete(subscription) || listeners.size > 0) return
        channels.delete(channel)
        connection.run((client) => client.unsubscribe(names + channel, known.deliver)).catch(() => {})
        if (channels.size === 0) stopHeartbeat()
      }
    },
    async close() {
      stopHeartbeat()
      channels.clear()
      await connection.close()
    },
  }
}
