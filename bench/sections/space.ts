/**
 * What one tenant, one idempotency key and one audit record take in a store: bytes, CPU time of its server, and how many
 * a second one process writes.
 * The figures are the input of docs/scale.md.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createClient } from 'redis'
import type { Store } from 'sluice'
import { createAudit } from 'sluice/audit'
import { postgresDatabase, postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import { startPostgres } from '../../test/kit/processes/postgres.ts'
import { startRedis } from '../../test/kit/processes/redis.ts'
import { formatNumber, progress, type Section } from '../lib/figures.ts'
import { cpuUsOf } from '../lib/process-cpu.ts'

const count = 10_000
/** Calls in flight at the same time, as a server with many clients has. */
const width = 100

interface Opened {
  readonly store: Store & { close(): unknown }
  /** Returns the bytes that the store takes now. */
  bytes(): Promise<number>
  /** Returns the CPU time that the processes of the store have used. SQLite has none. */
  cpuUs?(): Promise<number>
  close(): Promise<void>
}

type Name = 'redis' | 'postgres' | 'sqlite'

const opens: Record<Name, () => Promise<Opened>> = {
  async redis() {
    const server = await startRedis(['--appendfsync', 'everysec'])
    const store = redisStore({ url: server.url })
    const client = await createClient({ url: server.url }).connect()
    return {
      store,
      bytes: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]),
      async cpuUs() {
        const seconds = (await client.info('cpu')).matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)
        return 1e6 * [...seconds].reduce((sum, [, value]) => sum + Number(value), 0)
      },
      async close() {
        client.destroy()
        await store.close()
        await server.stop()
      },
    }
  },
  async postgres() {
    const server = await startPostgres(['fsync=on'])
    const [store, database] = [postgresStore({ url: server.url }), postgresDatabase({ url: server.url })]
    // The tables are made on first use.
    await store.get(['first'])
    const sizes = `SELECT pg_total_relation_size('sluice.entries') + pg_total_relation_size('sluice.buckets') AS bytes`
    return {
      store,
      bytes: async () => Number((await database.query(sizes)).rows[0]?.['bytes']),
      async cpuUs() {
        const { rows } = await database.query('SELECT pid FROM pg_stat_activity')
        return rows.reduce((sum, { pid }) => sum + (cpuUsOf(Number(pid)) ?? 0), 0)
      },
      async close() {
        await database.close()
        await store.close()
        await server.stop()
      },
    }
  },
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-space-'))
    const path = join(folder, 'store.db')
    const store = sqliteStore(path)
    const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return {
      store,
      bytes: async () => sizeOf(path) + sizeOf(`${path}-wal`),
      async close() {
        await store.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}

/** Runs `work` for every number below `count`, `width` at a time. */
async function forAll(work: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += width)
    await Promise.all(Array.from({ length: width }, (_, offset) => work(start + offset)))
}

const record = JSON.stringify({ state: 'done', tool: 'echo', fingerprint: 'a'.repeat(64), text: 'x'.repeat(200) })
/** Refilled so slowly that no bucket is full again, and so removed, before the end. */
const bucket = { burst: 100, perSecond: 0.001 }
const hourMs = 3_600_000

const writes = {
  'bucket of a tenant': (store: Store) => forAll((index) => store.take(['limit', `tenant-${index}`], bucket)),
  'idempotency key': (store: Store) =>
    forAll((index) => store.swap(['once', `tenant-${index}`, 'ann', randomUUID()], undefined, record, hourMs)),
  async 'audit record'(store: Store) {
    const audit = createAudit({ store, maxQueued: 2 * count })
    for (let index = 0; index < count; index++)
      audit.record('acme', 'called', { tool: 'echo', caller: 'ann', outcome: 'complete', number: index })
    await audit.flush()
  },
} as const
type What = keyof typeof writes

interface Measured {
  readonly store: Name
  readonly what: What
  readonly bytes: number
  readonly perSecond: number
  readonly cpuUs: number | undefined
}

export async function space(): Promise<Section> {
  const measured: Measured[] = []
  for (const name of Object.keys(opens) as Name[]) {
    progress(`space: ${name}`)
    const { store, bytes, cpuUs, close } = await opens[name]()
    try {
      for (const what of Object.keys(writes) as What[]) {
        const [bytesBefore, cpuBefore] = [await bytes(), await cpuUs?.()]
        const startedAt = performance.now()
        await writes[what](store)
        const perSecond = (count * 1_000) / (performance.now() - startedAt)
        const cpuAfter = await cpuUs?.()
        measured.push({
          ...{ store: name, what, perSecond, bytes: ((await bytes()) - bytesBefore) / count },
          cpuUs: cpuAfter && (cpuAfter - (cpuBefore ?? 0)) / count,
        })
      }
    } finally {
      await close()
    }
  }
  return {
    figures: { measured },
    tables: [
      {
        title: 'space: bytes and CPU time that one of each takes in a store, and how many a second are written',
        notes: [
          `${formatNumber(count)} of each from one process, ${width} in flight, the store on the same machine`,
          'Redis: memory; PostgreSQL: tables and indexes; SQLite: the file and its log. A figure is the growth, not the size of a row',
        ],
        columns: ['', 'store', 'bytes', 'per second', 'CPU µs of the store'],
        rows: measured.map(({ store, what, bytes, perSecond, cpuUs }) => [
          what,
          store,
          formatNumber(bytes),
          formatNumber(perSecond),
          formatNumber(cpuUs),
        ]),
      },
    ],
    goals: [],
  }
}
