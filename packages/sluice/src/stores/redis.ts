/**
 * The store and the bus of many processes behind a load balancer: each verb one command or one script, by Redis's clock.
 *
 * What Redis has acknowledged is as safe as Redis is told to keep it: `checkRedisDurability` looks. Every entry costs a
 * place in one sorted set (O(log n) a write, about 100 bytes), which makes `list` a range and never a SCAN.
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

/** A store that processes share. */
export interface RedisStore extends Store {
  /** After what is under way. Verbs called later are refused with `storeUnavailable`. */
  close(): Promise<void>
}

/** Connects on first use. A Redis that is away is refused with `storeUnavailable` and tried again behind the calls. */
export function redisStore(options: RedisOptions): RedisStore {
  const names = namePrefix(options)
  const link = createRedisConnection(options)
  const run = (script: Script, ...args: readonly string[]): Promise<unknown> =>
    evaluate(link, script, ['1', names, ...args])
  return {
    shared: sharedHub,
    checkDurability: () => checkRedisDurability(options),
    async get(key) {
      const name = `${names}v:${encodeKey(key)}`
      return (await link.run((client) => client.sendCommand<string | null>(['GET', name]))) ?? undefined
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
      // Refused here as everywhere: a rate of 0 would make a bucket that never expires.
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
      // More than one round only where ten thousand expired keys stand in the way.
      while (from !== '' && entries.length < size) {
        const left = String(size - entries.length)
        const [next, found] = (await run(scripts.list, from, `(${endOfPrefix(below)}`, left)) as [string, string[]]
        for (let i = 0; i < found.length; i += 2)
          entries.push({ key: decodeKey(found[i] ?? ''), value: found[i + 1] ?? '' })
        from = next
      }
      return entries
    },
    close: () => link.close(),
  }
}

const toTtlArgument = (ttlMs: number | undefined): string => {
  const ms = toTtlMs(ttlMs)
  return ms === Number.POSITIVE_INFINITY ? '' : String(ms)
}

/** By its hash; by its text where Redis has forgotten it (restart, failover, SCRIPT FLUSH). Refused before it ran. */
const evaluate = (link: RedisConnection, { sha, source }: Script, args: readonly string[]): Promise<unknown> =>
  link.run((client) =>
    client.sendCommand(['EVALSHA', sha, ...args]).catch((thrown: unknown) => {
      if (thrown instanceof Error && thrown.message.startsWith('NOSCRIPT'))
        return client.sendCommand(['EVAL', source, ...args])
      throw thrown
    }),
  )

/** A bus that processes share. */
export interface RedisBus extends Bus {
  close(): Promise<void>
}

/** A connection that is open but dead is deaf without knowing: it is spoken to this often. */
const heartbeatMs = 1000

/** Publish and subscribe over Redis; whoever was away looks into the store. */
export function redisBus(options: RedisOptions): RedisBus {
  const names = `${namePrefix(options)}bus:`
  const clock = options.clock ?? systemClock
  const channels = new Map<string, { readonly hearers: Set<(message: string) => void>; hear(message: string): void }>()
  const link = createRedisConnection(options, {
    async onOpen(client) {
      await Promise.all([...channels].map(([channel, { hear }]) => client.subscribe(names + channel, hear)))
    },
  })
  let callOff: (() => void) | undefined
  const beat = (): void => {
    callOff = clock.after(heartbeatMs, () => {
      // While Redis is away this is also what tries again and, once it is back, subscribes again.
      link.run((client) => client.sendCommand(['PING'])).catch(() => {})
      beat()
    })
  }
  const rest = (): void => {
    callOff?.()
    callOff = undefined
  }
  return {
    async publish(channel, message) {
      await link.run((client) => client.sendCommand(['PUBLISH', names + channel, checkedValue(message)]))
    },
    subscribe(channel, hear) {
      const own = (message: string): void => hear(message)
      let known = channels.get(channel)
      if (!known) {
        const hearers = new Set<(message: string) => void>()
        const all = (message: string): void => {
          for (const each of [...hearers]) notifySafely(each, message)
        }
        known = { hearers, hear: all }
        channels.set(channel, known)
        // On the connection that publishes, so what this process publishes next is heard here.
        link.run((client) => client.subscribe(names + channel, all)).catch(() => {})
      }
      const { hearers } = known
      hearers.add(own)
      if (!callOff) beat()
      return () => {
        if (!hearers.delete(own) || hearers.size > 0) return
        channels.delete(channel)
        link.run((client) => client.unsubscribe(names + channel, known.hear)).catch(() => {})
        if (channels.size === 0) rest()
      }
    },
    async close() {
      rest()
      channels.clear()
      await link.close()
    },
  }
}
