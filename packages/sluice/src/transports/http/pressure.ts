/**
 * How this Node process is doing, looked at ten times a second: what the gate is told.
 *
 * The lag is how late the look itself comes, so that it costs one timer. How busy the loop is (`eventLoopUtilization`) is
 * no sign of trouble: at full load it is 1, and nobody waits.
 */

import type { Turn } from '../turn.ts'
import type { Marks, Pressure, Signals } from './hysteresis.ts'
import { createHysteresis } from './hysteresis.ts'

export interface OwnedPressure extends Pressure {
  close(): void
}

/** Calls `then` again and again until the returned function is called; must not keep the process alive. */
type Every = (ms: number, then: () => void) => () => void

const sampleMs = 100

export function createPressure(
  marks: Marks = {},
  measure: () => Signals = measureNode(),
  every: Every = unheld,
  turn: Pick<Turn, 'late'> = { late: false },
): OwnedPressure {
  const state = createHysteresis(marks)
  const close = every(sampleMs, () => state.sample(measure()))
  return {
    get high() {
      return state.high
    },
    get late() {
      return state.late || turn.late
    },
    close,
  }
}

/** Each call says how much later than `sampleMs` after the last one it came. */
function measureNode(): () => Signals {
  const v8 = process.getBuiltinModule('node:v8')
  let last = performance.now()
  return () => {
    const now = performance.now()
    const lagMs = Math.max(0, now - last - sampleMs)
    last = now
    const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics()
    return { lagMs, heap: used / limit }
  }
}

const unheld: Every = (ms, then) => {
  const timer = setInterval(then, ms)
  timer.unref()
  return () => clearInterval(timer)
}
