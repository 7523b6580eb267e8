/**
 * Time as approvals count it. It never goes back: not when a clock is set back, not between processes, not after a
 * restart. Otherwise an approval that had expired could be used again.
 *
 * The store keeps a high-water mark, which counts its writes. A count that is lower than one this process has seen means
 * that the store was restored from a copy, or lost writes. That begins a new epoch, and what was approved in an earlier
 * one is void.
 */

import type { Clock } from '../core/clock.ts'
import { isObject } from '../core/json.ts'
import type { Key, Store } from '../core/store.ts'

export interface Moment {
  /** Milliseconds since the epoch of Unix. */
  readonly at: number
  /** Changes when the store forgets what it had acknowledged. */
  readonly epoch: string
}

export interface ApprovalTime {
  now(): Promise<Moment>
  /** The same, and moves the mark: before a ticket is spent, so that no copy made earlier looks like the store as it is. */
  advance(): Promise<Moment>
  /** Sees to it that the mark passes `at` although nothing is asked for then, while this process lives. */
  advanceAfter(at: number): void
  close(): void
}

/** How far the time of approvals has come, as the store keeps it. */
export interface TimeMark extends Moment {
  /** When it was written first. */
  readonly began: number
  /** How often it was written. */
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

  /** By the process alone: the machine's clock, or what has passed since the last look where that is more. */
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
  /** One write for all that come while another is written: a thousand tickets spent at once must not contend for it. */
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
      // Best effort: a store that is away now is asked again with the next call.
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

/** For those who look after a store: `undefined` if nothing was ever approved there. */
export async function readApprovalTime(store: Pick<Store, 'get'>): Promise<TimeMark | undefined> {
  const text = await store.get(timeKey)
  return text === undefined ? undefined : parseMark(text)
}

/** Throws on what is not ours: a mark that cannot be read must not count as none. */
function parseMark(text: string): TimeMark {
  const mark: unknown = JSON.parse(text)
  if (!isObject(mark) || typeof mark['epoch'] !== 'string') throw unreadable()
  const { at, epoch, began, writes } = mark
  if (typeof at !== 'number' || typeof began !== 'number' || typeof writes !== 'number') throw unreadable()
  return { at, epoch, began, writes }
}
const unreadable = (): TypeError => new TypeError('The time of approvals cannot be read')
