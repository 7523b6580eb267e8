/** Writes how running calls end. The calls were acknowledged, so each end is written as soon as the store takes it. */

import type { Clock } from '../core/clock.ts'
import { InFlight } from '../core/in-flight.ts'

/** Outcomes that are being written. A server that closes waits for them. */
export interface Endings {
  add(ending: Promise<unknown>): void
  /** Resolves after `ms`, or at once when the server closes. False from then on: there will be no further try. */
  pause(ms: number): Promise<boolean>
  close(): Promise<void>
}

export function createEndings(clock: Clock): Endings {
  const open = new InFlight<Promise<unknown>>()
  const paused = new Set<() => void>()
  let closed = false
  return {
    add(ending) {
      const id = open.add(ending)
      const end = (): void => open.delete(id)
      ending.then(end, end)
    },
    async pause(ms) {
      if (closed) return false
      await new Promise<void>((resolve) => {
        const cancelTimer = clock.after(ms, resume)
        function resume(): void {
          cancelTimer()
          paused.delete(resume)
          resolve()
        }
        paused.add(resume)
      })
      return true
    },
    async close() {
      closed = true
      for (const resume of paused) resume()
      await Promise.allSettled(open)
    },
  }
}

const maxRetryMs = 60_000

/** Repeats the write of an end that failed, until the store takes it, the record is gone (`until`) or the server closes. */
export async function retryEnd(
  write: () => Promise<unknown>,
  { clock, endings, until }: { readonly clock: Clock; readonly endings: Endings; readonly until: number },
): Promise<void> {
  for (let tries = 0; clock.now() < until; tries++) {
    if (!(await endings.pause(Math.min(1_000 * 2 ** tries, maxRetryMs)))) return
    try {
      await write()
      return
    } catch {
      // The next attempt follows.
    }
  }
}
