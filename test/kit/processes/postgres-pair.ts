/**
 * Two real PostgreSQL servers, a primary and its streaming standby, behind one address that leads new connections to the
 * primary, as a DNS name or a proxy does.
 */

import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresServer } from './postgres.ts'
import { startPostgres, startStandby } from './postgres.ts'

export interface PostgresPair {
  readonly url: string
  /** The standby's own address, past the proxy. */
  readonly standbyUrl: string
  /** Stops the primary, promotes the standby once it has received everything, and leads new connections to it. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const first = await startPostgres()
  const second = await startStandby(first)
  let primary: PostgresServer = first
  const sockets = new Set<Socket>()
  const proxy = createServer((socket) => {
    const upstream = connect(primary.socket)
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
  await until(first.url, `SELECT count(*)::text FROM pg_stat_replication WHERE state = 'streaming'`, '1')
  // From here on a commit is acknowledged once the standby has it, or a failover would lose the last ones.
  await ask(first.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await ask(first.url, 'SELECT pg_reload_conf()')
  return {
    url: `postgresql://sluice@127.0.0.1:${address.port}/postgres`,
    standbyUrl: second.url,
    async failOver() {
      await first.kill()
      await ask(second.url, 'SELECT pg_promote()')
      await until(second.url, 'SELECT pg_is_in_recovery()::text', 'false')
      primary = second
    },
    async stop() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all([first.stop(), second.stop()])
    },
  }
}

async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return String(rows[0]?.[0])
  } finally {
    await client.end()
  }
}
async function until(url: string, sql: string, expected: string): Promise<void> {
  while ((await ask(url, sql).catch(() => '')) !== expected) await sleep(20)
}
