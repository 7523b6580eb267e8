/**
 * The traffic of the last day by the minute, for all processes, in the store. Each process writes one entry a minute if
 * it had calls, made of what the Live page holds in memory, so a request pays nothing for it. Entries expire after a day.
 *
 * The storage is bounded: 1440 entries per process, each with at most `maxCells` pairs of server and tenant.
 */

import type { Clock, Logger, Store } from 'sluice'
import { bugOf, createPacer, pagesOf } from 'sluice/internal'
import type { MinuteStats } from '../api/index.ts'
import { newLatencies, percentile } from './latencies.ts'
import type { LiveStats, Traffic } from './live-stats.ts'
import { emptyTraffic } from './live-stats.ts'

export interface HistoryFilter {
  readonly server?: string
  readonly tenant?: string
  /** The tenants that may be seen. Empty means all. */
  readonly tenants: readonly string[]
}

export interface History {
  /** Begins to write, with the first server that is ready. */
  start(): void
  read(filter: HistoryFilter): Promise<{ readonly minutes: readonly MinuteStats[]; readonly processes: number }>
  /** Writes the rest and stops, with the last server that closes. */
  close(): Promise<void>
}

export interface HistoryOptions {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly live: Pick<LiveStats, 'trafficOf'>
}

/** Calls, errors, shed, waiting, and pairs of a latency bucket and its count. */
type StoredCell = readonly [number, number, number, number, readonly (readonly [number, number])[]]
/** By server, then tenant. */
type StoredMinute = { readonly [server: string]: { readonly [tenant: string]: StoredCell } }

const minuteMs = 60_000
const dayMinutes = 24 * 60
const keptMs = (dayMinutes + 10) * minuteMs
/** Further tenants of a minute are written together, under the empty name. */
const maxCells = 50
const pageSize = 500
const root = ['console', 'history'] as const

export function createHistory({ store, clock, logger, live }: HistoryOptions): History {
  const writer = crypto.randomUUID().slice(0, 13)
  const written = new Map<number, string>()
  let servers = 0
  let cancelTimer: (() => void) | undefined
  let writing: Promise<void> = Promise.resolve()
  const minuteNow = (): number => Math.floor(clock.now() / minuteMs)

  /** The last two minutes, because calls of the previous one ended after it was written. */
  async function write(): Promise<void> {
    const now = minuteNow()
    for (const minute of [now - 1, now]) {
      const text = JSON.stringify(toStored(live.trafficOf(minute * 60, 60)))
      if (text === '{}' || written.get(minute) === text) continue
      await store.set([...root, keyOf(minute), writer], text, keptMs)
      written.set(minute, text)
    }
    for (const minute of written.keys()) if (minute < now - 1) written.delete(minute)
  }
  /** One write after the other, so that an older sum never replaces a newer one. */
  function flush(): Promise<void> {
    writing = writing.then(write).catch((thrown: unknown) => {
      logger.warn({ event: 'historyNotStored', ...bugOf(thrown) })
    })
    return writing
  }
  function schedule(): void {
    cancelTimer = clock.after(minuteMs, () => {
      schedule()
      flush().catch(() => {})
    })
  }

  return {
    start() {
      servers++
      if (!cancelTimer) schedule()
    },
    async read(filter) {
      await flush()
      const pace = createPacer(clock)
      const minutes = new Map<number, Traffic>()
      const processes = new Set<string>()
      const from = [...root, keyOf(minuteNow() - dayMinutes)]
      for await (const page of pagesOf(store, root, pageSize, from)) {
        for (const { key, value } of page) {
          const [minute, process] = key.slice(root.length)
          if (minute === undefined || process === undefined) continue
          const isCounted = addTo(minutes, Number(minute), parse(value), filter)
          if (isCounted) processes.add(process)
        }
        await pace()
      }
      return { minutes: [...minutes].map(([minute, traffic]) => toMinute(minute, traffic)), processes: processes.size }
    },
    async close() {
      if (--servers > 0) return
      cancelTimer?.()
      cancelTimer = undefined
      await flush()
    },
  }
}

/** As long as every other, so that keys sort by time. */
const keyOf = (minute: number): string => String(minute).padStart(12, '0')

function toStored(traffic: ReadonlyMap<string, ReadonlyMap<string, Traffic>>): StoredMinute {
  const stored: { [server: string]: { [tenant: string]: StoredCell } } = {}
  let cells = 0
  for (const [server, byTenant] of traffic) {
    const rest = emptyTraffic()
    const ofServer: { [tenant: string]: StoredCell } = {}
    for (const [tenant, cell] of byTenant)
      if (tenant === '' || cells++ >= maxCells) add(rest, cell)
      else ofServer[tenant] = toCell(cell)
    if (rest.calls > 0) ofServer[''] = toCell(rest)
    stored[server] = ofServer
  }
  return stored
}

const toCell = ({ calls, errors, shed, waiting, latencies }: Traffic): StoredCell => [
  ...([calls, errors, shed, waiting] as const),
  [...latencies.entries()].filter(([, count]) => count > 0),
]

/** Other versions of Sluice may have written what this one cannot read. */
function parse(text: string): StoredMinute {
  try {
    return JSON.parse(text) as StoredMinute
  } catch {
    return {}
  }
}

function addTo(
  minutes: Map<number, Traffic>,
  minute: number,
  stored: StoredMinute,
  { server, tenant, tenants }: HistoryFilter,
): boolean {
  let isCounted = false
  for (const [ofServer, byTenant] of Object.entries(stored)) {
    if (server !== undefined && server !== ofServer) continue
    for (const [ofTenant, cell] of Object.entries(byTenant)) {
      if (tenant !== undefined && tenant !== ofTenant) continue
      if (tenants.length > 0 && !tenants.includes(ofTenant)) continue
      const sum = minutes.get(minute) ?? emptyTraffic()
      minutes.set(minute, sum)
      add(sum, fromCell(cell))
      isCounted = true
    }
  }
  return isCounted
}

function fromCell([calls, errors, shed, waiting, buckets]: StoredCell): Traffic {
  const latencies = newLatencies()
  for (const [at, count] of buckets) if (at < latencies.length) latencies[at] = count
  return { calls, errors, shed, waiting, latencies }
}

function add(sum: Traffic, more: Traffic): void {
  for (const field of ['calls', 'errors', 'shed', 'waiting'] as const) sum[field] += more[field]
  for (const [at, count] of more.latencies.entries()) sum.latencies[at] = (sum.latencies[at] ?? 0) + count
}

function toMinute(minute: number, { calls, errors, shed, waiting, latencies }: Traffic): MinuteStats {
  return {
    ...{ at: minute * minuteMs, calls, errors, shed, waiting },
    ...{ p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95), p99: percentile(latencies, 0.99) },
  }
}
