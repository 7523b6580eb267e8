/**
 * The processes of one upstream: one per scope key, started by the first call and ended when idle. A process that ends
 * by itself fails its calls as in doubt and repeats none. It is started again by a later call, after 1, 2, 4, 8 and 16
 * seconds. After that it is in a crash loop until an operator or time ends it.
 */

import type { ClientError } from '../../client/errors.ts'
import { defaultMaxMessageBytes } from '../../client/message.ts'
import { monotonicNow } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import type { Stop } from '../../core/stop.ts'
import type { ConnectionLease, Connections, ScopeKey, UpstreamConnection } from '../connections.ts'
import { unavailable } from '../upstream-error.ts'
import { createOutputRing, type OutputRing } from './output-ring.ts'
import type { ProcessHost } from './process-host.ts'
import { type ConnectUpstream, type ProcessRun, startRun } from './process-run.ts'
import type { ProcessSpec } from './process-transport.ts'

export interface ProcessConnectionsOptions {
  readonly host: ProcessHost
  readonly connect: ConnectUpstream
  /** How long a process may be without a call before it is ended. 5 minutes by default. */
  readonly idleMs?: number
  /** How long start and handshake may take. 30 seconds by default. */
  readonly startMs?: number
  /** The longest line that is read. A longer one ends the process. 16 MiB by default. */
  readonly maxMessageBytes?: number
}

const backoffsMs = [1000, 2000, 4000, 8000, 16_000]
const crashLoopMs = 10 * 60_000
/** A process that worked for this long begins its backoff anew. */
const stableMs = 60_000
/** Most scope keys whose failures are remembered. A key without a process is then forgotten, oldest first. */
const maxEntries = 1000

interface Entry {
  readonly key: ScopeKey
  readonly ring: OutputRing
  run: ProcessRun | undefined
  starts: number
  failures: number
  /** The monotonic time until which the process is not started. */
  retryAt: number
  lastError: string | undefined
  skippedLines: number
}

export function createProcessConnections(spec: ProcessSpec, options: ProcessConnectionsOptions): Connections {
  const { host, connect, idleMs = 5 * 60_000, startMs = 30_000, maxMessageBytes = defaultMaxMessageBytes } = options
  const { clock, logger } = host
  const { name } = spec
  const entries = new Map<string, Entry>()
  let isClosed = false
  const now = (): number => monotonicNow(clock)

  const refusal = (problem: string, data?: Params, cause?: unknown): RpcError =>
    unavailable(`${name} ${problem}. The call did not run`, data, cause)
  const closed = (): RpcError => refusal('is shutting down')

  function entryOf(key: ScopeKey): Entry {
    const found = entries.get(key.text)
    if (found) return found
    if (entries.size >= maxEntries) for (const each of entries.values()) if (!each.run && forget(each)) break
    const entry: Entry = {
      ...{ key, ring: createOutputRing(spec.hide), run: undefined, starts: 0, failures: 0, skippedLines: 0 },
      ...{ retryAt: Number.NEGATIVE_INFINITY, lastError: undefined },
    }
    entries.set(key.text, entry)
    return entry
  }
  const forget = ({ key }: Entry): boolean => entries.delete(key.text)

  function failed(entry: Entry, error: unknown, ranMs: number): void {
    entry.failures = ranMs >= stableMs ? 1 : entry.failures + 1
    const waitMs = backoffsMs[entry.failures - 1] ?? crashLoopMs
    entry.retryAt = now() + waitMs
    entry.lastError = error instanceof Error ? error.message : String(error)
    logger.warn({
      ...{ event: 'upstreamFailed', upstream: name, scope: entry.key.text, message: entry.lastError },
      ...{ failures: entry.failures, retryAfterMs: waitMs },
    })
  }

  function start(entry: Entry): ProcessRun {
    if (entry.failures > backoffsMs.length) entry.failures = 0
    const run = startRun(spec, {
      ...{ host, connect, idleMs, startMs, maxMessageBytes, key: entry.key, ring: entry.ring },
      skipped() {
        // The first line says that the upstream does this, the others only how much.
        if (/^10*$/.test(String(++entry.skippedLines)))
          logger.warn({ event: 'upstreamOutput', upstream: name, scope: entry.key.text, skipped: entry.skippedLines })
      },
      died(error: ClientError, isCrash: boolean) {
        if (isCrash) failed(entry, error, now() - (run.readyAt ?? now()))
      },
      ended() {
        entry.run = undefined
        const ranMs = run.readyAt === undefined ? 0 : now() - run.readyAt
        if (ranMs >= stableMs && now() >= entry.retryAt) entry.failures = 0
        if (run.readyAt !== undefined && entry.failures === 0) forget(entry)
      },
    })
    entry.run = run
    entry.starts++
    run.ready.then(
      ({ agreement: { revision } }) =>
        logger.info({ event: 'upstreamStarted', upstream: name, scope: entry.key.text, pid: run.pid, revision }),
      (thrown: unknown) => {
        if (!(thrown instanceof RpcError || run.ending)) failed(entry, thrown, 0)
        else if (entry.failures === 0) forget(entry)
      },
    )
    return run
  }

  function lease(run: ProcessRun, client: ConnectionLease['client']): ConnectionLease {
    run.users++
    let isHeld = true
    return {
      client,
      release() {
        if (!isHeld) return
        isHeld = false
        if (--run.users === 0) run.unused()
      },
    }
  }

  async function acquireLater(entry: Entry, stop: Stop): Promise<ConnectionLease> {
    refuseWhileFailed(entry)
    // Two processes of one key could write the same files.
    while (entry.run?.ending) await orStopped(entry.run.ending, stop)
    if (isClosed) throw closed()
    refuseWhileFailed(entry)
    if (entries.get(entry.key.text) !== entry) return acquireLater(entryOf(entry.key), stop)
    const run = entry.run ?? start(entry)
    run.users++
    try {
      const client = await orStopped(run.ready, stop)
      if (run.client !== client) throw refusal('ended just now')
      return lease(run, client)
    } catch (thrown) {
      throw thrown instanceof RpcError ? thrown : refusal('could not be started', {}, thrown)
    } finally {
      if (--run.users === 0) run.unused()
    }
  }

  function refuseWhileFailed(entry: Entry): void {
    const retryAfterMs = entry.retryAt - now()
    if (entry.run?.client || retryAfterMs <= 0) return
    const isLooping = entry.failures > backoffsMs.length
    const seconds = Math.ceil(retryAfterMs / 1000)
    const state = isLooping
      ? 'ended repeatedly and waits for an operator to restart it, or'
      : 'ended and starts again in'
    throw refusal(`${state} ${seconds} s`, { retryAfterMs: Math.ceil(retryAfterMs) })
  }

  function stateOf(entry: Entry): UpstreamConnection {
    const { key, run, starts, failures, retryAt, lastError, skippedLines, ring } = entry
    const isFailed = now() < retryAt
    const live = run?.ending ? undefined : run
    const resting = isFailed ? (failures > backoffsMs.length ? 'crash-loop' : 'backoff') : 'closed'
    return {
      key: key.text,
      ...(key.tenant !== undefined && { tenant: key.tenant }),
      state: live ? (live.client ? 'ready' : 'connecting') : resting,
      ...(run?.pid !== undefined && { pid: run.pid }),
      ...(run && { startedAt: run.startedAt }),
      restarts: Math.max(0, starts - 1),
      inFlight: run?.users ?? 0,
      ...(run?.client && { revision: run.client.agreement.revision }),
      ...(lastError !== undefined && { lastError }),
      stderr: ring.lines(),
      skippedLines,
    }
  }

  async function restart(key?: string): Promise<void> {
    const chosen = key === undefined ? [...entries.values()] : [...entries.values()].filter((e) => e.key.text === key)
    for (const entry of chosen) {
      entry.failures = 0
      entry.retryAt = Number.NEGATIVE_INFINITY
    }
    await Promise.all(chosen.map(({ run }) => run?.end()))
    for (const entry of chosen) if (!entry.run) forget(entry)
  }

  return {
    acquire(key, stop) {
      if (isClosed) return Promise.reject(closed())
      const entry = entryOf(key)
      const client = entry.run?.client
      return entry.run && client ? lease(entry.run, client) : acquireLater(entry, stop)
    },
    states: () => [...entries.values()].map(stateOf),
    restart,
    close() {
      isClosed = true
      return restart()
    },
  }
}

/** Waits, but not longer than the call lives. */
function orStopped<T>(wait: Promise<T>, stop: Stop): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const unsubscribe = stop.onStop(reject)
    wait.then(resolve, reject).finally(unsubscribe)
  })
}
