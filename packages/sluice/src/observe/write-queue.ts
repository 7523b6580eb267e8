/**
 * The queue between calls, which must not wait, and the store, which may be slow or unavailable. A queue per tenant has
 * one write in flight. Records that arrive meanwhile go together into the next write, so a slow store does not slow
 * calls.
 *
 * Invariant: a queue that holds records has a write in flight or a retry timer, until it is closed. Only `createQueue`
 * changes a `Queue`. Each end of a write starts the next one, or its timer, in the same synchronous step. Otherwise a
 * record could be added in between that no write would ever pick up.
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'

export interface WriteQueues {
  /**
   * Settles once the record is written or cannot be. `undefined` if the queue is full; the record is then dropped and
   * counted.
   */
  put(tenant: string, record: Params): Promise<void> | undefined
  readonly dropped: number
  /** Settles when everything was written, or a write that began after this call has failed. */
  flush(): Promise<void>
  close(): Promise<void>
}

type Write = (records: readonly Params[]) => Promise<void>

export interface WriteQueueOptions {
  readonly clock: Clock
  readonly max: number
  writer(tenant: string): Write
}

interface QueuedRecord {
  readonly record: Params
  settle(failed: unknown): void
}

const recordsPerRow = 128
const retryMs = 1_000
const closeTimeoutMs = 5_000
/** A write that takes longer never ends: its store hangs, or an edge runtime ended it with its request. It is repeated. */
const hungMs = 30_000
/** Maximum number of idle queues that are kept, because they remember their position in the chain. */
const maxIdle = 1_000

export function createWriteQueues({ clock, max, writer }: WriteQueueOptions): WriteQueues {
  const queues = new Map<string, Queue>()
  /** Number of records in all queues, including those being written. */
  const total = { queued: 0, dropped: 0 }

  const queueOf = (tenant: string): Queue => {
    const found = queues.get(tenant)
    if (found) return found
    const onEmpty = (): void => {
      if (queues.size > maxIdle) queues.delete(tenant)
    }
    const queue = createQueue({ write: writer(tenant), clock, total, onEmpty })
    queues.set(tenant, queue)
    return queue
  }
  const flush = async (): Promise<void> => {
    await Promise.all([...queues.values()].map((queue) => queue.flush()))
  }
  return {
    put(tenant, record) {
      const queue = queueOf(tenant)
      if (total.queued < max) return queue.put(record)
      queue.drop()
      return undefined
    },
    get dropped() {
      return total.dropped
    },
    flush,
    async close() {
      for (const queue of queues.values()) queue.stopRetrying()
      // A store that never responds must not keep the process alive.
      await new Promise<void>((resolve) => {
        const cancelTimer = clock.after(closeTimeoutMs, resolve)
        flush().then(
          () => {
            cancelTimer()
            resolve()
          },
          () => resolve(),
        )
      })
    },
  }
}

interface Queue {
  put(record: Params): Promise<void>
  /** Counts a record that did not fit. The log itself will record it. */
  drop(): void
  flush(): Promise<void>
  stopRetrying(): void
}

interface QueueOptions {
  readonly write: Write
  readonly clock: Clock
  readonly total: { queued: number; dropped: number }
  onEmpty(): void
}

function createQueue({ write, clock, total, onEmpty }: QueueOptions): Queue {
  const waiting: QueuedRecord[] = []
  /** The records being written, or to be retried unchanged because the first attempt may have reached the store. */
  let batch: readonly QueuedRecord[] = []
  let dropped = 0
  let isWriting = false
  let beganAt = 0
  let cancelRetry: (() => void) | undefined
  let retries = true
  let attempt = 0
  /**
   * Pending flushes, each with the last attempt that began before it. The failure of that attempt does not end its
   * wait.
   */
  let flushes: { readonly since: number; resolve(): void }[] = []

  function advance(): void {
    if (isWriting && Math.abs(clock.now() - beganAt) < hungMs) return
    cancelRetry?.()
    cancelRetry = undefined
    if (batch.length === 0) batch = next()
    if (batch.length === 0) {
      for (const { resolve } of flushes.splice(0)) resolve()
      onEmpty()
      return
    }
    isWriting = true
    beganAt = clock.now()
    const own = ++attempt
    write(batch.map(({ record }) => record)).then(
      () => own === attempt && written(),
      (thrown: unknown) => own === attempt && failed(thrown),
    )
  }
  function written(): void {
    isWriting = false
    total.queued -= batch.length
    for (const { settle } of batch) settle(undefined)
    batch = []
    advance()
  }
  function failed(thrown: unknown): void {
    isWriting = false
    for (const { settle } of batch) settle(thrown)
    for (const { resolve } of flushes.filter(({ since }) => since < attempt)) resolve()
    flushes = flushes.filter(({ since }) => since >= attempt)
    if (flushes.length > 0) advance()
    else if (retries) cancelRetry = clock.after(retryMs, advance)
  }
  function next(): readonly QueuedRecord[] {
    const records = waiting.splice(0, recordsPerRow)
    if (dropped === 0) return records
    const gap: QueuedRecord = { record: { at: clock.now(), kind: 'dropped', records: dropped }, settle: () => {} }
    dropped = 0
    total.queued++
    return [...records, gap]
  }
  return {
    put(record) {
      total.queued++
      const put = new Promise<void>((resolve, reject) => {
        const settle = (thrown: unknown): void => (thrown === undefined ? resolve() : reject(thrown))
        waiting.push({ record, settle })
      })
      // Most callers ignore this promise.
      put.catch(() => {})
      if (!cancelRetry) advance()
      return put
    },
    drop() {
      dropped++
      total.dropped++
      if (!cancelRetry) advance()
    },
    flush() {
      return new Promise((resolve) => {
        flushes.push({ since: attempt, resolve })
        advance()
      })
    },
    stopRetrying() {
      retries = false
      cancelRetry?.()
      cancelRetry = undefined
    },
  }
}
