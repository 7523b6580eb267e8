/**
 * Checks that a limiter in a store is exact for many processes: no window of any schedule has more grants than burst
 * and rate allow, and a caller that waits as told gets through.
 *
 * A grant happened between its request and its answer, by a clock that all processes of a machine share. So all grants
 * requested after one moment and answered before another happened between the two, however slow the machine is.
 */

import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bucket, Store } from '../../packages/sluice/src/core/store.ts'
import { postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { redisStore } from '../../packages/sluice/src/stores/redis.ts'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'

/** One bucket, and the schedule of each process: the milliseconds of idling before each attempt. */
export interface Schedule {
  readonly name: string
  readonly bucket: Bucket
  readonly pauses: readonly number[]
}
/** Times of request and answer in milliseconds; `waitMs` is the store's answer. */
export type Attempt = readonly [asked: number, received: number, waitMs: number]
/** By the name of the schedule. */
export type Attempts = { readonly [name: string]: readonly Attempt[] }

export interface ExactReport {
  readonly schedules: number
  readonly attempts: number
  readonly granted: number
  readonly lost: readonly string[]
}

/** The speed of a busy machine is not part of this test. */
const maxWaitMs = 60_000
/** Concurrent schedules; more would only wait for each other. */
const together = 100

/** How a process opens the store: a module with `open`, and its arguments. */
interface SharedStore {
  readonly module: string
  readonly argument: string
  readonly store: Store
  close(): Promise<void>
}

export async function exactOnRedis(schedules: number, processes: number, random: () => number): Promise<ExactReport> {
  const server = await startRedis()
  const options = { url: server.url, deadlineMs: maxWaitMs }
  const store = redisStore(options)
  const close = async (): Promise<void> => {
    await store.close()
    await server.stop()
  }
  const shared = { module: '../stores/open-redis.ts', argument: JSON.stringify(options), store, close }
  return exact(shared, schedules, processes, random)
}

export async function exactOnPostgres(
  schedules: number,
  processes: number,
  random: () => number,
): Promise<ExactReport> {
  const server = await startPostgres()
  const options = { url: server.url, deadlineMs: maxWaitMs }
  const store = postgresStore(options)
  const close = async (): Promise<void> => {
    await store.close()
    await server.stop()
  }
  const shared = { module: '../stores/open-postgres.ts', argument: JSON.stringify(options), store, close }
  return exact(shared, schedules, processes, random)
}

export async function exactOnSqlite(schedules: number, processes: number, random: () => number): Promise<ExactReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-exact-'))
  const argument = join(folder, 'store.db')
  const store = sqliteStore(argument)
  const close = async (): Promise<void> => {
    await store.close()
    rmSync(folder, { recursive: true })
  }
  return exact({ module: '../stores/open-sqlite.ts', argument, store, close }, schedules, processes, random)
}

async function exact(
  { module, argument, store, close }: SharedStore,
  schedules: number,
  processes: number,
  random: () => number,
): Promise<ExactReport> {
  const script = new URL('exact-child.fixture.ts', import.meta.url).pathname
  const children = Array.from({ length: processes }, () => fork(script, [module, argument]))
  const lost: string[] = []
  let [attempts, granted] = [0, 0]
  try {
    for (let done = 0; done < schedules; done += together) {
      const batch = Array.from({ length: Math.min(together, schedules - done) }, (_, i) =>
        scheduleOf(`${done + i}`, random),
      )
      const said = await Promise.all(children.map((child) => ask(child, batch)))
      for (const { name, bucket } of batch) {
        const all = said.flatMap((each) => each[name] ?? [])
        const grants = all.filter(([, , waitMs]) => waitMs === 0)
        attempts += all.length
        granted += grants.length
        const excess = excessIn(grants, bucket)
        if (excess) lost.push(`${name}, ${bucket.burst} at once and ${bucket.perSecond} a second: ${excess}`)
        if (grants.length < Math.min(bucket.burst, all.length))
          lost.push(`${name}: ${grants.length} granted of ${all.length}, though ${bucket.burst} fit at once`)
      }
      await Promise.all(batch.map(async (each) => lost.push(...(await starved(store.take, each)))))
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await close()
  }
  return { schedules, attempts, granted, lost }
}

const scheduleOf = (name: string, random: () => number): Schedule => ({
  name,
  bucket: {
    burst: 1 + Math.floor(random() * 12),
    perSecond: random() < 0.5 ? 1 + Math.floor(random() * 500) : 0.5 + random() * 50,
  },
  pauses: Array.from({ length: 4 + Math.floor(random() * 8) }, () => (random() < 0.6 ? 0 : Math.floor(random() * 25))),
})

async function ask(child: ChildProcess, batch: readonly Schedule[]): Promise<Attempts> {
  const settled = new AbortController()
  const exited = once(child, 'exit', settled).then(() => Promise.reject(new Error('A process of the limiter ended')))
  const answer = once(child, 'message', settled)
  child.send(batch)
  try {
    const [said] = await Promise.race([answer, exited])
    return said
  } finally {
    exited.catch(() => {})
    settled.abort()
  }
}

/** The possible difference of two clocks: the store has its own, and neither is finer than this. */
const clockMs = 2

export function excessIn(grants: readonly Attempt[], { burst, perSecond }: Bucket): string | undefined {
  const starts = grants.map(([asked]) => asked)
  for (const from of starts) {
    const after = grants.filter(([asked]) => asked >= from).toSorted((a, b) => a[1] - b[1])
    for (const [index, [, received]] of after.entries()) {
      const allowed = burst + ((received - from + clockMs) / 1000) * perSecond
      if (index + 1 > allowed + 1e-6) return `${index + 1} granted in ${(received - from).toFixed(1)} ms`
    }
  }
  return undefined
}

/** No other process asks any more: the announced wait must be sufficient, after any number of refusals. */
async function starved(
  take: (key: readonly string[], bucket: Bucket) => Promise<number>,
  { name, bucket }: Schedule,
): Promise<readonly string[]> {
  const waitMs = await take(['limit', name], bucket)
  if (waitMs === 0) return []
  if (waitMs > 1000 / bucket.perSecond + clockMs) return [`${name}: told to wait ${waitMs} ms for one token`]
  await new Promise((resolve) => setTimeout(resolve, Math.ceil(waitMs) + clockMs))
  const again = await take(['limit', name], bucket)
  return again === 0 ? [] : [`${name}: waited ${waitMs} ms as told, and must wait ${again} ms more`]
}
