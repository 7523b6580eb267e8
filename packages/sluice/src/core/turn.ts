/** Work that waits for the end of a turn, because most calls have ended by then and need none of it. */

import type { Clock } from './clock.ts'

/** Returns a function that passes items to `handle` at the end of their turn, or at once if the clock knows no turns. */
export function atEndOfTurn<T>(clock: Clock, handle: (item: T) => void): (item: T) => void {
  if (!clock.turn) return handle
  let waiting: T[] = []
  const endOfTurn = (): void => {
    const due = waiting
    waiting = []
    for (const item of due) handle(item)
  }
  return (item) => {
    if (waiting.push(item) === 1) clock.turn?.(endOfTurn)
  }
}

interface LateTimer {
  readonly at: number
  /** `undefined` once cancelled, so that a long turn does not keep what it refers to. */
  fire: (() => void) | undefined
  cancelTimer: (() => void) | undefined
}

/** Returns `clock.after` for timers that most calls cancel within their turn. Those never become timers. */
export function lateTimers(clock: Clock): Clock['after'] {
  if (!clock.turn) return clock.after
  const start = atEndOfTurn(clock, (timer: LateTimer) => {
    if (timer.fire) timer.cancelTimer = clock.after(Math.max(0, timer.at - clock.now()), timer.fire)
  })
  return (ms, fire) => {
    const timer: LateTimer = { at: clock.now() + ms, fire, cancelTimer: undefined }
    start(timer)
    return () => {
      timer.fire = undefined
      timer.cancelTimer?.()
    }
  }
}
