/**
 * Repeated kill −9 under load: every acknowledged write must be there afterwards.
 *
 * Short in `npm test`, long in `npm run soak`. The time of the kill is random on purpose.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Key, Store } from '../../packages/sluice/src/core/store.ts'
import { postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { redisStore } from '../../packages/sluice/src/stores/redis.ts'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { createDisk, type RemovableDisk } from '../kit/processes/removable-disk.ts'

export interface CrashReport {
  readonly kills: number
  /** Writes that were acknowledged before a kill and checked after it. */
  readonly acknowledged: number
  /** Losses as sentences; empty if there are none. */
  readonly lost: readonly string[]
}

/** The last acknowledged state of a key: its value, or that it is deleted. */
type Known = Map<string, string | undefined>

/** Kills the writing process. `random` is from 0 up to 1. */
export async function crashSqlite(kills: number, random: () => number): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const path = join(folder, 'store.db')
  try {
    const faults = () => faultsIn(path)
    return await crashWriter({ where: path, open: () => sqliteStore(path), faults }, kills, random)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function faultsIn(path: string): readonly string[] {
  const check = new DatabaseSync(path)
  const sound = Object.values(check.prepare('PRAGMA integrity_check').get() ?? {})[0]
  check.close()
  return sound === 'ok' ? [] : [String(sound)]
}

/**
 * Cuts the power of a disk under a process that writes to SQLite. A file that was written without a sync must be lost,
 * otherwise this would prove nothing. Returns `undefined` if this account may not mount a disk.
 */
export async function cutPowerOfSqlite(cuts: number, random: () => number): Promise<CrashReport | undefined> {
  const lost: string[] = []
  let acknowledged = 0
  for (let round = 0; round < cuts; round++) {
    const disk = createDisk()
    if (!disk) return undefined
    let left: RemovableDisk | undefined
    try {
      const written = await writeUntilEnd(join(disk.folder, 'store.db'), round, random, (writer) => {
        stop(writer)
        writeFileSync(join(disk.folder, 'unsynced'), 'lost with the power')
        left = disk.copy()
      })
      if (!left || existsSync(join(left.folder, 'unsynced'))) throw new Error('The disk kept what was not synced')
      const path = join(left.folder, 'store.db')
      const store = sqliteStore(path)
      const known: Known = new Map(
        written.map(([what, key, value]) => [JSON.stringify(key), what === 'there' ? value : undefined]),
      )
      lost.push(...(await missing(store, known)))
      await store.close()
      lost.push(...faultsIn(path).map((fault) => `round ${round}: ${fault}`))
      acknowledged += written.length
    } finally {
      left?.remove()
      disk.remove()
    }
  }
  return { kills: cuts, acknowledged, lost }
}

/** Returns when no thread of the process runs, so that it acknowledges nothing more. */
function stop({ pid }: ChildProcess): void {
  process.kill(pid ?? 0, 'SIGSTOP')
  const isStopped = (thread: string): boolean =>
    /^State:\s+[TZX]/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped));
}

/** The process that writes to PostgreSQL is killed. */
export async function crashPostgresWriter(kills: number, random: () => number): Promise<CrashReport> {
  const server = await startPostgres()
  const open = () => postgresStore({ url: server.url, deadlineMs: maxWaitMs })
  try {
    return await crashWriter({ where: server.url, open, faults: () => [] }, kills, random)
  } finally {
    await server.stop()
  }
}

interface Written {
  /** What the writer is told to open. */
  readonly where: string
  open(): Store & { close(): Promise<void> }
  /** Damage, in sentences. */
  faults(): readonly string[]
}

async function crashWriter(
  { where, open, faults }: Written,
  kills: number,
  random: () => number,
): Promise<CrashReport> {
  const known: Known = new Map()
  const lost: string[] = []
  let acknowledged = 0
  for (let round = 0; round < kills; round++) {
    const fresh = await writeUntilEnd(where, round, random)
    acknowledged += fresh.length
    const touched: Known = new Map()
    for (const [what, key, value] of fresh) touched.set(JSON.stringify(key), what === 'there' ? value : undefined)
    for (const [key, value] of touched) known.set(key, value)
    const store = open()
    lost.push(...(await missing(store, round === kills - 1 ? known : touched)))
    await store.close()
    lost.push(...faults().map((fault) => `round ${round}: ${fault}`))
  }
  return { kills, acknowledged, lost }
}

type Acknowledged = readonly ['there' | 'gone', Key, string | undefined]

/** `beforeKill` runs at a random time. What the process says after it does not count. */
async function writeUntilEnd(
  path: string,
  round: number,
  random: () => number,
  beforeKill: (writer: ChildProcess) => void = () => {},
): Promise<readonly Acknowledged[]> {
  const writer = new URL('crash-writer.fixture.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [writer, path, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: Acknowledged[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    // Killed in the middle of a line, so not acknowledged.
    if (line.endsWith(']')) said.push(JSON.parse(line))
  })
  await Promise.race([once(lines, 'line'), once(child, 'exit')])
  await sleep(random() * 120)
  const ended = once(lines, 'close')
  beforeKill(child)
  child.kill('SIGKILL')
  await ended
  if (said.length === 0) throw new Error('The writer wrote nothing')
  return said
}

/** A long deadline: a server that gets no processor for a second has lost nothing. */
const maxWaitMs = 20_000

export async function crashRedis(kills: number, random: () => number): Promise<CrashReport> {
  const server = await startRedis()
  return crashServer(server, redisStore({ url: server.url, deadlineMs: maxWaitMs }), kills, random)
}

export async function crashPostgres(kills: number, random: () => number): Promise<CrashReport> {
  const server = await startPostgres()
  return crashServer(server, postgresStore({ url: server.url, deadlineMs: maxWaitMs }), kills, random)
}

interface Killable {
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** The server is killed and started again; the writers stay, and a write that was refused promises nothing. */
async function crashServer(
  server: Killable,
  store: Store & { close(): Promise<void> },
  kills: number,
  random: () => number,
): Promise<CrashReport> {
  const known: Known = new Map()
  let [running, acknowledged] = [true, 0]
  const write = async (who: number): Promise<void> => {
    for (let i = 0; running; i++) {
      const key = ['claims', `${who}-${i}`]
      try {
        const at = await store.append(['log', String(who)], String(i))
        known.set(JSON.stringify(at), String(i))
        if (await store.swap(key, undefined, 'claimed')) known.set(JSON.stringify(key), 'claimed')
        acknowledged += 2
      } catch {
        await sleep(5)
      }
    }
  }
  try {
    const writers = [0, 1, 2, 3].map(write)
    const lost: string[] = []
    for (let round = 0; round < kills; round++) {
      const before = acknowledged
      for (let tries = 0; acknowledged < before + 20 && tries < 500; tries++) await sleep(10)
      await sleep(random() * 150)
      await server.kill()
      const expected = new Map(known)
      await server.start()
      await ready(store)
      lost.push(...(await missing(store, expected)))
    }
    running = false
    await Promise.all(writers)
    return { kills, acknowledged, lost }
  } finally {
    running = false
    await store.close()
    await server.stop()
  }
}

async function ready(store: Store): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (
      await store.get(['ready']).then(
        () => true,
        () => false,
      )
    )
      return
    await sleep(10)
  }
  throw new Error('The store did not come back within half a minute')
}

async function missing(store: Store, known: Known): Promise<readonly string[]> {
  const lost: string[] = []
  const entries = [...known]
  for (let i = 0; i < entries.length; i += 500)
    await Promise.all(
      entries.slice(i, i + 500).map(async ([key, expected]) => {
        const found = await store.get(JSON.parse(key))
        // A write in flight at the kill may have succeeded without an answer; only going back is a loss.
        const later = expected === 'claimed' && (found === 'done' || found === undefined)
        const deleted = expected === 'done' && found === undefined
        if (found !== expected && !later && !deleted)
          lost.push(`${key}: ${expected?.slice(0, 40)} was acknowledged, ${found?.slice(0, 40)} is there`)
      }),
    )
  return lost
}
