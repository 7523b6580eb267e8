/** Measures the pressure on this Node process ten times a second, for admission control. */

import type { AdmittedRequests, Pressure, Thresholds } from '../http/pressure.ts'
import { loopExemptRequests } from '../http/pressure.ts'
import { createHeapAlarm } from './heap-alarm.ts'
import { createLoopBacklog } from './loop-backlog.ts'
import type { TurnQueue } from './turn-queue.ts'

export interface PressureMonitor extends Pressure {
  close(): void
}

export interface PressureMonitorDeps {
  readonly requests: AdmittedRequests
  readonly turns: Pick<TurnQueue, 'refuses'>
  readonly measure?: () => ProcessSample
  /** Calls `then` repeatedly until the returned function is called. Must not keep the process alive. */
  readonly every?: (ms: number, then: () => void) => () => void
}

interface ProcessSample {
  /** The part of the heap that is used, 0 to 1. */
  readonly heap: number
  readonly busyMs: number
  readonly idleMs: number
}

const sampleMs = 100

export function createPressureMonitor(
  { heap }: Thresholds,
  { requests, turns, measure = measureNode(), every = unrefInterval }: PressureMonitorDeps,
): PressureMonitor {
  const alarm = createHeapAlarm(heap)
  const backlog = createLoopBacklog()
  const close = every(sampleMs, () => {
    const { heap: used, busyMs, idleMs } = measure()
    alarm.sample(used)
    backlog.sample({ busyMs, idleMs, running: requests.running, finished: requests.finished })
  })
  return {
    get heapHigh() {
      return alarm.on
    },
    loopLate: (running) => running >= loopExemptRequests && turns.refuses(backlog.waitMs(running)),
    close,
  }
}

function measureNode(): () => ProcessSample {
  const v8 = process.getBuiltinModule('node:v8')
  return () => {
    const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics()
    // Other runtimes that have the API of Node do not all have this function.
    const { active = 0, idle = 0 } = performance.eventLoopUtilization?.() ?? {}
    return { heap: used / limit, busyMs: active, idleMs: idle }
  }
}

function unrefInterval(ms: number, then: () => void): () => void {
  const timer = setInterval(then, ms)
  timer.unref()
  return () => clearInterval(timer)
}
