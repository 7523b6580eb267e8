/** A real server whose store a test makes fail and mends: Redis, or PostgreSQL in a file that imports use-postgres.ts. */

import pg from 'pg'
import { createClient } from 'redis'
import type { Store } from 'sluice'
import { postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'

interface Fault {
  fail(): unknown
  mend(): unknown
}
export interface Faulty {
  readonly faults: { readonly [state: string]: Fault }
  /** A store that no other test uses. */
  open(name: string): Store & { close(): Promise<void> }
  stop(): Promise<void>
}

const isPostgres = process.env['FAULTY_STORE'] === 'postgres'

/** How the store can fail here. A full disk ends PostgreSQL, which is the state `down`. */
export const states: readonly string[] = isPostgres
  ? ['down', 'silent', 'read-only']
  : ['down', 'silent', 'full', 'read-only']

export const startFaulty = (): Promise<Faulty> => (isPostgres ? faultyPostgres() : faultyRedis())

async function faultyRedis(): Promise<Faulty> {
  const server = await startRedis()
  async function configure(...words: readonly string[]): Promise<void> {
    const client = await createClient({ url: server.url }).connect()
    await client.sendCommand(words)
    client.destroy()
  }
  return {
    open: (name) => redisStore({ url: server.url, prefix: name }),
    stop: () => server.stop(),
    faults: {
      down: { fail: () => server.kill(), mend: () => server.start() },
      silent: { fail: () => server.pause(), mend: () => server.resume() },
      full: {
        fail: () => configure('CONFIG', 'SET', 'maxmemory', '1'),
        mend: () => configure('CONFIG', 'SET', 'maxmemory', '0'),
      },
      'read-only': {
        fail: () => configure('REPLICAOF', '127.0.0.1', '1'),
        mend: () => configure('REPLICAOF', 'NO', 'ONE'),
      },
    },
  }
}

async function faultyPostgres(): Promise<Faulty> {
  const server = await startPostgres()
  async function configure(sql: string): Promise<void> {
    const client = new pg.Client(server.url)
    await client.connect()
    await client.query(sql)
    await client.query('SELECT pg_reload_conf()')
    await client.end()
  }
  return {
    open: (name) => postgresStore({ url: server.url, schema: name }),
    stop: () => server.stop(),
    faults: {
      down: { fail: () => server.kill(), mend: () => server.start() },
      silent: { fail: () => server.pause(), mend: () => server.resume() },
      'read-only': {
        fail: () => configure('ALTER SYSTEM SET default_transaction_read_only = on'),
        mend: () => configure('ALTER SYSTEM RESET default_transaction_read_only'),
      },
    },
  }
}
