/**
 * How this Node process is doing, looked at ten times a second: what the gate is told.
 *
 * The lag is how late the look itself comes, so that it costs one timer. How busy the loop is (`eventLoopUtilization`) is
 * no sign of trouble: at full load it is 1, and nobody waits.
 */

import type { LoadSample, Pressure, Thresholds } from '../http/hysteresis.ts'
import { createHysteresis } from '../http/hysteresis.ts'
import type { TurnQueue } from './turn-queue.ts'

export interface PressureMonitor extends Pressure {
  close(): void
}

/** Calls `then` again and again until the returned function is called; must not keep the process alive. */
type StartInterval = (ms: number, then: () => void) => () => void

const sampleMs = 100

export function createPressureMonitor(
  marks: Thresholds = {},
  measure: () => LoadSample = measureNode(),
  every: StartInterval = unrefInterval,
  turn: Pick<TurnQueue, 'late'> = { late: false },
): PressureMonitor {
  const state = createHysteresis(marks)
  const close = every(sampleMs, () => state.sample(measure()))
  return {
    get heapHigh() {
      return state.heapHigh
    },
    get loopLate() {
      return state.loopLate || turn.late
    },
    close,
  }
}

/** Each call says how much later than `sampleMs` after the last one it came. */
function measureNode(): () => LoadSample {
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

const unrefInterval: StartInterval = (ms, then) => {
  const timer = setInterval(then, ms)
  timer.unref()
  return () => clearInterval(timer)
}
