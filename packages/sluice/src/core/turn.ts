/** Timers of calls, most of which end within their turn. A timer costs as much as a small call. */

import type { Clock } from './clock.ts'

interface LateTimer {
  readonly at: number
  /** `undefined` once cancelled, so that a long turn does not keep what it refers to. */
  fire: (() => void) | undefined
  cancelTimer?: () => void
}

/** Returns `clock.after` for timers that most calls cancel within their turn. Those never become timers. */
export function lateTimers(clock: Clock): Clock['after'] {
  if (!clock.turn) return clock.after
  let waiting: LateTimer[] = []
  function endOfTurn(): void {
    const due = waiting
    waiting = []
    for (const timer of due)
      if (timer.fire) timer.cancelTimer = clock.after(Math.max(0, timer.at - clock.now()), timer.fire)
  }
  return (ms, fire) => {
    const timer: LateTimer = { at: clock.now() + ms, fire }
    if (waiting.push(timer) === 1) clock.turn?.(endOfTurn)
    return () => {
      timer.fire = undefined
      timer.cancelTimer?.()
    }
  }
}
