/**
 * The queue between calls, which must not wait, and the store, which may be slow or away. A lane per tenant keeps one
 * write under way; what comes meanwhile goes together into the next, so a slow store costs rows and not calls.
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'

export interface Lanes {
  /** Settles when it is written or cannot be. `undefined` where nothing more fits: then it was dropped, and counted. */
  put(tenant: string, record: Params): Promise<void> | undefined
  readonly dropped: number
  /** Settles when everything was written, or one more try has failed. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface LanesOptions {
  readonly clock: Clock
  readonly max: number
  writer(tenant: string): (records: readonly Params[]) => Promise<void>
}

interface Waiting {
  readonly record: Params
  settle(failed: unknown): void
}
interface Lane {
  readonly write: (records: readonly Params[]) => Promise<void>
  readonly waiting: Waiting[]
  /** Being written, or to be tried again exactly as it is: the first try may have reached the store. */
  batch: readonly Waiting[]
  dropped: number
  busy: Promise<void> | undefined
  callOff: (() => void) | undefined
}

const perRow = 128
const retryMs = 1_000
const closeMs = 5_000
/** Lanes without work that are kept, for the place in the chain they remember. */
const maxIdle = 1_000

export function createLanes({ clock, max, writer }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()
  let queued = 0
  let dropped = 0
  let closed = false

  const laneOf = (tenant: string): Lane => {
    const found = lanes.get(tenant)
    if (found) return found
    const lane: Lane = {
      write: writer(tenant),
      waiting: [],
      batch: [],
      dropped: 0,
      busy: undefined,
      callOff: undefined,
    }
    lanes.set(tenant, lane)
    return lane
  }
  function run(tenant: string, lane: Lane): Promise<void> {
    lane.callOff?.()
    lane.callOff = undefined
    lane.busy ??= drain(lane).finally(() => {
      lane.busy = undefined
      if (lanes.size > maxIdle && lane.batch.length === 0 && lane.waiting.length === 0) lanes.delete(tenant)
      else if (lane.batch.length > 0 && !closed) lane.callOff = clock.after(retryMs, () => start(tenant, lane))
    })
    return lane.busy
  }
  /** The batch stays where it is if this fails, and the next record tries again. */
  function start(tenant: string, lane: Lane): void {
    run(tenant, lane).catch(() => {})
  }
  /** Until nothing is left or the store fails. Never rejects. */
  async function drain(lane: Lane): Promise<void> {
    while (lane.batch.length > 0 || lane.waiting.length > 0) {
      if (lane.batch.length === 0) lane.batch = next(lane)
      try {
        await lane.write(lane.batch.map(({ record }) => record))
      } catch (thrown) {
        for (const { settle } of lane.batch) settle(thrown)
        return
      }
      const written = lane.batch
      lane.batch = []
      queued -= written.length
      for (const { settle } of written) settle(undefined)
    }
  }
  function next(lane: Lane): readonly Waiting[] {
    const batch = lane.waiting.splice(0, perRow)
    if (lane.dropped === 0) return batch
    // The log itself says where something is missing.
    const gap: Waiting = { record: { at: clock.now(), kind: 'dropped', records: lane.dropped }, settle: () => {} }
    lane.dropped = 0
    queued++
    return [...batch, gap]
  }
  const runAll = async (): Promise<void> => {
    await Promise.all([...lanes].map(([tenant, lane]) => run(tenant, lane)))
  }
  return {
    put(tenant, record) {
      const lane = laneOf(tenant)
      if (queued >= max) {
        dropped++
        lane.dropped++
        return undefined
      }
      queued++
      const put = new Promise<void>((resolve, reject) => {
        const settle = (failed: unknown): void => (failed === undefined ? resolve() : reject(failed))
        lane.waiting.push({ record, settle })
      })
      // Most callers do not look at it.
      put.catch(() => {})
      if (!lane.busy && !lane.callOff) start(tenant, lane)
      return put
    },
    get dropped() {
      return dropped
    },
    flush: runAll,
    async close() {
      closed = true
      // A store that never answers must not keep the process.
      await new Promise<void>((resolve) => {
        const callOff = clock.after(closeMs, resolve)
        const done = (): void => {
          callOff()
          resolve()
        }
        runAll().then(done, done)
      })
      for (const { callOff } of lanes.values()) callOff?.()
    },
  }
}
