/**
 * Two real Redis servers, a primary and its replica, behind one address that leads new connections to the primary, as a
 * DNS name or a proxy does. Open connections stay where they are, as in a real failover.
 */

import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { startRedis } from './redis.ts'

export interface RedisPair {
  readonly url: string
  /** Swaps primary and replica without a loss, and leads new connections to the new primary. */
  failOver(): Promise<void>
  /** Disconnects the replica, so that its values stay as they are. */
  detach(): Promise<void>
  stop(): Promise<void>
}

export async function startRedisPair(): Promise<RedisPair> {
  let [primary, replica] = await Promise.all([startRedis(), startRedis()])
  const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port)
  const sockets = new Set<Socket>()
  const proxy = createServer((socket) => {
    const upstream = connect(portOf(primary), '127.0.0.1')
    socket.pipe(upstream).pipe(socket)
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')

  const ask = async (at: { readonly url: string }, ...words: readonly string[]): Promise<string> => {
    const client = await createClient({ url: at.url }).connect()
    return client
      .sendCommand(words)
      .then(String)
      .finally(() => client.destroy())
  }
  const until = async (at: { readonly url: string }, expected: RegExp): Promise<void> => {
    while (!expected.test(await ask(at, 'INFO', 'replication').catch(() => ''))) await sleep(10)
  }
  await ask(replica, 'REPLICAOF', '127.0.0.1', String(portOf(primary)))
  return {
    url: `redis://127.0.0.1:${address.port}`,
    async failOver() {
      await until(primary, /state=online/)
      await ask(primary, 'FAILOVER')
      await until(replica, /role:master/)
      const before = primary
      primary = replica
      replica = before
    },
    detach: async () => {
      await ask(replica, 'REPLICAOF', '127.0.0.1', '1')
    },
    async stop() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([primary.stop(), replica.stop()])
    },
  }
}
