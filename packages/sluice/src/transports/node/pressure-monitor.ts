/**
 * Measures the pressure on this Node process ten times a second, for admission control.
 *
 * The lag is the delay of the measuring timer itself, so that it costs one timer. The load of the event loop
 * (`eventLoopUtilization`) is not a sign of overload, because at full load it is 1 without waiting requests.
 */

import type { LoadSample, Pressure, Thresholds } from '../http/hysteresis.ts'
import { createHysteresis } from '../http/hysteresis.ts'
import type { TurnQueue } from './turn-queue.ts'

export interface PressureMonitor extends Pressure {
  close(): void
}

/** Calls `then` repeatedly until the returned function is called. Must not keep the process alive. */
type StartInterval = (ms: number, then: () => void) => () => void

const sampleMs = 100

export function createPressureMonitor(
  thresholds: Thresholds = {},
  measure: () => LoadSample = measureNode(),
  every: StartInterval = unrefInterval,
  turn: Pick<TurnQueue, 'late'> = { late: false },
): PressureMonitor {
  const state = createHysteresis(thresholds)
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

/** Returns a function that measures how much later than `sampleMs` it was called after its last call. */
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
