/**
 * One connection to Redis that is replaced when it stops answering.
 *
 * The client's reconnecting is off, because it waits for ever for the answer to a command already sent. An open but
 * dead connection would hold every call. Here each operation has a deadline, and missing it closes the connection. No
 * command is sent twice. A command without an answer may have taken effect, so the call fails with `storeUnavailable`.
 *
 * After a failover the connection may lead to a server that is now a replica. It refuses writes, but still answers
 * reads (with old values) and accepts messages (without receivers). The address is resolved again only if this side
 * closes the connection. A write without effect detects this, on every new connection and every second while it is
 * used.
 */

import type { RedisClientType } from 'redis'
import { createClient } from 'redis'
import type { Clock } from '../core/clock.ts'
import { monotonicNow, systemClock } from '../core/clock.ts'
import { RpcError, storeUnavailable } from '../core/error.ts'
import { createDeadline } from './deadline.ts'

interface RedisCommonOptions {
  /** The prefix of every name in Redis: letters, digits, `.`, `_` and `-`. By default `sluice`. */
  readonly prefix?: string
  /**
   * How long one operation may take before its connection is closed, by default 1 s. Otherwise a dead one would hold
   * calls for minutes.
   */
  readonly deadlineMs?: number
  readonly clock?: Clock
}
/**
 * The address of Redis. `client` is for settings that a URL cannot hold (TLS, credentials). It is duplicated, never
 * used or closed.
 */
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

/**
 * The pause between two attempts while Redis is unavailable. Calls meanwhile are refused at once, without waiting for
 * the next one.
 */
const retryMs = 200
/** The pause between two checks that the server still accepts writes. */
const probeMs = 1000

export interface RedisConnectionOptions {
  /** Runs on every new connection, before anything else may use it. */
  onOpen?(client: Client): Promise<void>
  /**
   * `any` also accepts a replica, for questions about the server itself. By default the connection to a replica is
   * closed.
   */
  readonly role?: 'primary' | 'any'
}

export function createRedisConnection(
  options: RedisOptions,
  { onOpen, role = 'primary' }: RedisConnectionOptions = {},
): RedisConnection {
  const { deadlineMs = 1000, clock = systemClock } = options
  const probeKey = `${namePrefix(options)}probe`
  let ready: Client | undefined
  let opening: Promise<Client> | undefined
  /** Whether the last attempt failed, or an operation missed its deadline. */
  let failing = false
  let retryAt = Number.NEGATIVE_INFINITY
  let closed = false
  let probedAt = 0

  const drop = (client: Client): void => {
    if (ready === client) ready = undefined
    client.destroy()
  }
  /** Deletes a key that never exists. Rejects only if this connection cannot be used. */
  const probe = async (client: Client): Promise<void> => {
    if (role === 'any') return
    probedAt = clock.now()
    await client.sendCommand(['DEL', probeKey]).catch((thrown: unknown) => {
      if (needsReconnect(thrown)) throw thrown
    })
  }
  const open = async (): Promise<Client> => {
    const client = clientFor(options, deadlineMs)
    client.on('error', () => drop(client))
    const cancelTimer = clock.after(deadlineMs, () => drop(client))
    try {
      await client.connect()
      await probe(client)
      await onOpen?.(client)
      if (closed || !client.isReady) throw new Error('The connection was lost while it was opened')
      failing = false
      ready = client
      return client
    } catch (thrown) {
      drop(client)
      failing = true
      retryAt = monotonicNow(clock) + retryMs
      // Any error here ("ERR max number of clients reached") is not a bug of the waiting call.
      throw storeUnavailable(statesByCode.get(codeOf(thrown)) ?? 'unavailable', thrown)
    } finally {
      cancelTimer()
      opening = undefined
    }
  }
  const connected = (): Promise<Client> => {
    if (closed) throw storeUnavailable('closed')
    if (monotonicNow(clock) < retryAt) throw storeUnavailable('unavailable')
    if (!opening) {
      opening = open()
      opening.catch(() => {})
    }
    if (failing) throw storeUnavailable('unavailable')
    return opening
  }
  const deadline = createDeadline(clock, deadlineMs, () => {
    if (!ready) return
    failing = true
    drop(ready)
  })
  return {
    async run(command) {
      let client: Client | undefined
      let end = (): void => {}
      try {
        client = ready ?? (await connected())
        const current = client
        if (Math.abs(clock.now() - probedAt) >= probeMs) probe(current).catch(() => drop(current))
        end = deadline.begin()
        return await command(client)
      } catch (thrown) {
        if (client && role === 'primary' && needsReconnect(thrown)) drop(client)
        throw toUnavailable(thrown)
      } finally {
        end()
      }
    },
    async close() {
      closed = true
      const client = ready ?? (await opening?.catch(() => undefined))
      ready = undefined
      if (!client) return
      // Otherwise a silent server would keep running commands waiting for ever.
      const cancelTimer = clock.after(deadlineMs, () => drop(client))
      await client.close().catch(() => drop(client))
      cancelTimer()
    },
  }
}

/**
 * Returns the prefix of names in Redis, checked once. With a `:` or a brace, one prefix could reach the names of
 * another.
 */
export function namePrefix({ prefix = 'sluice' }: RedisOptions): string {
  if (!/^[\w.-]+$/.test(prefix)) throw new Error(`Invalid "prefix" "${prefix}": use letters, digits, ".", "_" and "-"`)
  // The braces keep all names in one slot of a cluster, because a script may only touch one.
  return `{${prefix}}:`
}

function clientFor(options: RedisOptions, deadlineMs: number): Client {
  const socket = { connectTimeout: deadlineMs, reconnectStrategy: false as const }
  // The client's timeout is off. It would not reach commands already sent, and costs an AbortSignal each.
  const settings = { RESP: 3 as const, disableOfflineQueue: true, commandOptions: { timeout: 0 } }
  if ('url' in options) return createClient({ ...settings, url: options.url, socket }) as unknown as Client
  const clientSocket = 'socket' in options.client.options ? (options.client.options.socket as object) : {}
  return options.client.duplicate({ ...settings, socket: { ...clientSocket, ...socket } }) as Client
}

/** Converts an error of Redis. Its text may name hosts and keys, so it stays inside, as the cause. */
function toUnavailable(thrown: unknown): unknown {
  if (thrown instanceof RpcError) return thrown
  const code = codeOf(thrown)
  // A command or script that Redis does not understand is our bug, and must be reported as one.
  if (code === 'ERR' || code === 'WRONGTYPE') return thrown
  return storeUnavailable(statesByCode.get(code) ?? 'unavailable', thrown)
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
  ['NOAUTH', 'refusing our credentials'],
  ['NOPERM', 'refusing our credentials'],
  ['WRONGPASS', 'refusing our credentials'],
  ['MOVED', 'a cluster, which needs one endpoint for all slots'],
])
/**
 * Codes of a server that is not the primary, or no longer accepts us. Only a new connection can lead to another server.
 */
const reconnectCodes = new Set(['READONLY', 'LOADING', 'MASTERDOWN', 'CLUSTERDOWN', 'MOVED', 'NOAUTH'])
const needsReconnect = (thrown: unknown): boolean => reconnectCodes.has(codeOf(thrown))
