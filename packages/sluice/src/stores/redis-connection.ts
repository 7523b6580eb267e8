/**
 * One connection to Redis that is replaced when it stops answering.
 *
 * The client's own reconnecting is off: it waits for ever for the answer to a command already sent, so a connection that
 * is open but dead would hold every call. Here each operation has a deadline, and one that passes it costs the connection.
 * Nothing is sent twice: whether a command without an answer took effect is not known, and `storeUnavailable` says so.
 *
 * After a failover the connection may lead to a server that is now a replica. It refuses writes, but it still answers reads
 * (with old values) and accepts messages (which reach nobody), so that the address is resolved again only if this side ends
 * the connection. A write that does nothing asks: on every new connection, and every second while it is used.
 */

import type { RedisClientType } from 'redis'
import { createClient } from 'redis'
import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'

interface RedisCommonOptions {
  /** Before every name in Redis: letters, digits, `.`, `_` and `-`. `sluice` unless said otherwise. */
  readonly prefix?: string
  /** How long one operation may take before its connection is given up: 1 s, or a dead one would hold calls for minutes. */
  readonly deadlineMs?: number
  readonly clock?: Clock
}
/** `client` is for settings a URL cannot hold (TLS, credentials): it is duplicated, never used or closed. */
export type RedisOptions = RedisCommonOptions & ({ readonly url: string } | { readonly client: Duplicable })

type Client = RedisClientType
interface Duplicable {
  readonly options: object
  duplicate(overrides: object): unknown
}

export interface RedisConnection {
  run<T>(command: (client: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Between two attempts while Redis is away. Calls meanwhile are refused at once and do not wait for the next one. */
const retryMs = 200
/** The deadline is counted in ticks: a tool that blocks the event loop for a second must not cost a healthy connection. */
const ticksToDeadline = 5

/** Between two questions whether the server still takes writes. */
const probeMs = 1000

export interface RedisConnectionOptions {
  /** Runs on every new connection, before anything else may use it. */
  onOpen?(client: Client): Promise<void>
  /** With `any` a replica is good enough: for questions about the server itself. Otherwise its connection is given up. */
  readonly role?: 'primary' | 'any'
}

export function createRedisConnection(
  options: RedisOptions,
  { onOpen, role = 'primary' }: RedisConnectionOptions = {},
): RedisConnection {
  const { deadlineMs = 1000, clock = systemClock } = options
  const probed = `${namePrefix(options)}probe`
  const waiting = new Set<{ readonly since: number }>()
  let ready: Client | undefined
  let opening: Promise<Client> | undefined
  /** The last attempt failed, or an operation passed its deadline. */
  let away = false
  let resting = false
  let closed = false
  let ticks = 0
  let ticking = false
  let askedAt = 0

  const lose = (client: Client): void => {
    if (ready === client) ready = undefined
    client.destroy()
  }
  /** Deletes a key that is never there. Rejects only if this connection is of no use. */
  const probe = async (client: Client): Promise<void> => {
    if (role === 'any') return
    askedAt = clock.now()
    await client.sendCommand(['DEL', probed]).catch((thrown: unknown) => {
      if (needsReconnect(thrown)) throw thrown
    })
  }
  const open = async (): Promise<Client> => {
    const client = clientFor(options, deadlineMs)
    client.on('error', () => lose(client))
    const callOff = clock.after(deadlineMs, () => lose(client))
    try {
      await client.connect()
      await probe(client)
      await onOpen?.(client)
      if (closed || !client.isReady) throw new Error('Lost while it was opened')
      away = false
      ready = client
      return client
    } catch (thrown) {
      lose(client)
      away = resting = true
      clock.after(retryMs, () => {
        resting = false
      })
      // Whatever it was ("ERR max number of clients reached"), it is not a bug of the verb that waits.
      throw unavailable(statesByCode.get(codeOf(thrown)) ?? 'away', thrown)
    } finally {
      callOff()
      opening = undefined
    }
  }
  const connected = (): Promise<Client> => {
    if (closed) throw unavailable('closed')
    if (resting) throw unavailable('away')
    if (!opening) {
      opening = open()
      opening.catch(() => {})
    }
    if (away) throw unavailable('away')
    return opening
  }
  const tick = (): void => {
    ticks++
    const [oldest] = waiting
    ticking = oldest !== undefined
    if (!oldest) return
    if (ready && ticks - oldest.since >= ticksToDeadline) {
      away = true
      lose(ready)
    }
    clock.after(deadlineMs / ticksToDeadline, tick)
  }
  return {
    async run(command) {
      const mine = { since: ticks }
      let client: Client | undefined
      try {
        client = ready ?? (await connected())
        const asked = client
        if (Math.abs(clock.now() - askedAt) >= probeMs) probe(asked).catch(() => lose(asked))
        mine.since = ticks
        waiting.add(mine)
        if (!ticking) {
          ticking = true
          clock.after(deadlineMs / ticksToDeadline, tick)
        }
        return await command(client)
      } catch (thrown) {
        if (client && role === 'primary' && needsReconnect(thrown)) lose(client)
        throw toUnavailable(thrown)
      } finally {
        waiting.delete(mine)
      }
    },
    async close() {
      closed = true
      const client = ready ?? (await opening?.catch(() => undefined))
      ready = undefined
      if (!client) return
      // A server that is silent would never let go of what is under way.
      const callOff = clock.after(deadlineMs, () => lose(client))
      await client.close().catch(() => lose(client))
      callOff()
    },
  }
}

/** Names in Redis, checked once: with a `:` or a brace in it one prefix could reach the names of another. */
export function namePrefix({ prefix = 'sluice' }: RedisOptions): string {
  if (!/^[\w.-]+$/.test(prefix)) throw new Error(`The prefix "${prefix}" may hold letters, digits, ".", "_" and "-"`)
  // The braces keep all names in one slot of a cluster: a script may only touch one.
  return `{${prefix}}:`
}

function clientFor(options: RedisOptions, deadlineMs: number): Client {
  const socket = { connectTimeout: deadlineMs, reconnectStrategy: false as const }
  // No timeout of its own (it would not reach commands already sent, and costs an AbortSignal each).
  const ours = { RESP: 3 as const, disableOfflineQueue: true, commandOptions: { timeout: 0 } }
  if ('url' in options) return createClient({ ...ours, url: options.url, socket }) as unknown as Client
  const theirs = 'socket' in options.client.options ? (options.client.options.socket as object) : {}
  return options.client.duplicate({ ...ours, socket: { ...theirs, ...socket } }) as Client
}

const unavailable = (is: string, cause?: unknown): RpcError =>
  new RpcError('storeUnavailable', `The store is ${is}`, { cause })

/** Redis's own words (they may name hosts and keys) stay inside, as the cause. */
function toUnavailable(thrown: unknown): unknown {
  if (thrown instanceof RpcError) return thrown
  const code = codeOf(thrown)
  // A command or a script of ours that Redis does not understand is a bug and must read as one.
  if (code === 'ERR' || code === 'WRONGTYPE') return thrown
  return unavailable(statesByCode.get(code) ?? 'away', thrown)
}
const codeOf = (thrown: unknown): string =>
  thrown instanceof Error ? (/^[A-Z]+(?= )/.exec(thrown.message)?.[0] ?? '') : ''
const statesByCode = new Map([
  ['OOM', 'full'],
  ['MISCONF', 'not able to save'],
  ['READONLY', 'read-only'],
  ['LOADING', 'starting'],
  ['MASTERDOWN', 'a replica without its primary'],
  ['BUSY', 'busy'],
  ['CLUSTERDOWN', 'a cluster that is down'],
  ['NOAUTH', 'closed to us'],
  ['NOPERM', 'closed to us'],
  ['WRONGPASS', 'closed to us'],
  ['MOVED', 'a cluster, which needs one endpoint for all slots'],
])
/** The server answers, but not as the primary, or not to us any more: only a new connection can lead to one that does. */
const reconnectCodes = new Set(['READONLY', 'LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'MOVED', 'NOAUTH'])
const needsReconnect = (thrown: unknown): boolean => reconnectCodes.has(codeOf(thrown))
