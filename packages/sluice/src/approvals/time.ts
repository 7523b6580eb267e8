/**
 * The time of approvals. It never goes back: not when a clock is set back, not between processes, not after a restart.
 * Otherwise an expired approval could be used again.
 *
 * The store keeps a high-water mark, which counts its writes. If the count is lower than one this process has seen, the
 * store was restored from a copy or lost writes. That begins a new epoch, and approvals of earlier epochs are void.
 */

import type { Clock } from '../core/clock.ts'
import { isObject } from '../core/json.ts'
import type { Key, Store } from '../core/store.ts'

export interface Moment {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** Changes when the store loses acknowledged writes. */
  readonly epoch: string
}

export interface ApprovalTime {
  now(): Promise<Moment>
  /** Also moves the mark. Called before a ticket is spent, so that an earlier copy of the store is recognized as a copy. */
  advance(): Promise<Moment>
  /** Makes sure that the mark passes `at` even if no call comes then, while this process lives. */
  advanceAfter(at: number): void
  close(): void
}

/** The high-water mark of the time of approvals, as stored. */
export interface TimeMark extends Moment {
  /** The time of the first write. */
  readonly began: number
  /** The number of writes. */
  readonly writes: number
}

const timeKey: Key = ['approvals', 'time']
/** The mark is written once per second at most. */
const writeIntervalMs = 1000

export function createApprovalTime(store: Store, clock: Clock): ApprovalTime {
  const steady = (): number => clock.monotonic?.() ?? clock.now()
  let last: { readonly at: number; readonly steady: number } | undefined
  /** The highest count that the store has shown or acknowledged. */
  let seen = 0
  let latest = 0
  let cancelTimer: (() => void) | undefined
  let closed = false

  /** Returns this process's time: the machine's clock, or the last time plus the elapsed time if that is later. */
  function local(): number {
    const elapsed = last ? Math.max(0, steady() - last.steady) : 0
    return Math.max(clock.now(), (last?.at ?? 0) + elapsed)
  }
  async function read(move: boolean): Promise<Moment> {
    for (;;) {
      const before = seen
      const text = await store.get(timeKey)
      const mark = text === undefined ? undefined : parseMark(text)
      const at = Math.max(local(), mark?.at ?? 0)
      last = { at, steady: steady() }
      const lost = (mark?.writes ?? 0) < before
      if (mark && !lost && !move && at < mark.at + writeIntervalMs) {
        seen = Math.max(seen, mark.writes)
        return { at, epoch: mark.epoch }
      }
      const epoch = mark && !lost ? mark.epoch : crypto.randomUUID()
      const writes = Math.max(before, mark?.writes ?? 0) + 1
      const to: TimeMark = { at, epoch, began: mark?.began ?? at, writes }
      if (!(await store.swap(timeKey, text, JSON.stringify(to)))) continue
      seen = Math.max(seen, writes)
      return { at, epoch }
    }
  }
  const now = (): Promise<Moment> => read(false)
  /** Calls during a write share the next one, so that a thousand tickets spent at once do not contend for the mark. */
  let [writing, next]: (Promise<Moment> | undefined)[] = []
  function advance(): Promise<Moment> {
    if (!writing) {
      writing = read(true).finally(() => {
        writing = undefined
      })
      return writing
    }
    next ??= writing.then(again, again)
    return next
  }
  function again(): Promise<Moment> {
    next = undefined
    return advance()
  }
  function wait(): void {
    if (closed || cancelTimer || latest === 0) return
    cancelTimer = clock.after(Math.max(0, latest - local()) + writeIntervalMs, () => {
      cancelTimer = undefined
      if (local() < latest) return wait()
      latest = 0
      // Best effort. If the store is unavailable now, the next call moves the mark.
      now().catch(() => {})
    })
  }
  return {
    now,
    advance,
    advanceAfter(at) {
      latest = Math.max(latest, at)
      wait()
    },
    close() {
      closed = true
      cancelTimer?.()
    },
  }
}

/** Reads the mark of a store, for operators. `undefined` if the store has never held approvals. */
export async function readApprovalTime(store: Pick<Store, 'get'>): Promise<TimeMark | undefined> {
  const text = await store.get(timeKey)
  return text === undefined ? undefined : parseMark(text)
}

/** Throws on an invalid mark, because an unreadable mark must not count as absent. */
function parseMark(text: string): TimeMark {
  const mark: unknown = JSON.parse(text)
  if (!isObject(mark) || typeof mark['epoch'] !== 'string') throw unreadable()
  const { at, epoch, began, writes } = mark
  if (typeof at !== 'number' || typeof began !== 'number' || typeof writes !== 'number') throw unreadable()
  return { at, epoch, began, writes }
}
const unreadable = (): TypeError => new TypeError('Invalid time of approvals in the store')
