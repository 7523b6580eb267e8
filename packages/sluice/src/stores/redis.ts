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
import { checkedValue, decodeKey, encodeKey, rangeOf, takeToken, toPageSize, toTtlMs } from './memory.ts'
import type { RedisConnection, RedisOptions } from './redis-connection.ts'
import { createRedisConnection, namePrefix } from './redis-connection.ts'
import { checkRedisDurability } from './redis-durability.ts'
import type { Script } from './redis-scripts.ts'
import * as scripts from './redis-scripts.ts'
import { createRemoteBus } from './remote-bus.ts'

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
      const [range, size] = [rangeOf(prefix, after), toPageSize(limit)]
      const entries: StoreEntry[] = []
      let from = `(${range.from}`
      // More than one round is needed only after ten thousand expired keys.
      while (from !== '' && entries.length < size) {
        const remaining = String(size - entries.length)
        const [next, found] = (await run(scripts.list, from, `(${range.end}`, remaining)) as [string, string[]]
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

/** Publishes and subscribes over Redis. A process that missed a message reads the store. */
export function redisBus(options: RedisOptions): RedisBus {
  const names = `${namePrefix(options)}bus:`
  const connection = createRedisConnection(options, {
    async onOpen(client) {
      await Promise.all([...bus.channels].map(([channel, { deliver }]) => client.subscribe(names + channel, deliver)))
    },
  })
  const bus = createRemoteBus({
    clock: options.clock ?? systemClock,
    publish: async (channel, message) =>
      connection.run((client) => client.sendCommand(['PUBLISH', names + channel, checkedValue(message)])),
    listen: (channel, { deliver }) => connection.run((client) => client.subscribe(names + channel, deliver)),
    unlisten: (channel, { deliver }) => connection.run((client) => client.unsubscribe(names + channel, deliver)),
    ping: () => connection.run((client) => client.sendCommand(['PING'])),
    close: () => connection.close(),
  })
  return bus
}
