/**
 * Node's clock: `systemClock` with the end of a turn. Not for workerd, where a request must not wait in the turn of
 * another.
 */

import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'

/** The time of this machine, with the turns of Node’s event loop. */
export const nodeClock: Clock = {
  ...systemClock,
  turn: (then) => {
    setImmediate(then)
  },
}
