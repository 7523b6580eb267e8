/**
 * Tells whether the process is overloaded, from samples of the event loop's lag and the heap's use. It starts at once
 * and ends only after a while. Otherwise admission control would switch with every sample.
 */

export interface LoadSample {
  /** The delay of a timer. */
  readonly lagMs: number
  /** The part of the heap that is used, 0 to 1. */
  readonly heap: number
}

export interface Thresholds {
  /** New work is refused from this lag on, by default 250 ms. Every running call waits that long for each turn. */
  readonly lagMs?: number
  /**
   * New work is refused from this part of the heap on, by default 0.9. Above it, garbage collection takes the time that
   * calls need.
   */
  readonly heap?: number
}

/** The signals that admission control acts on. */
export interface Pressure {
  /** Whether memory is short. Then new work is refused. */
  readonly heapHigh: boolean
  /** Whether the event loop does not keep up. Then new work is refused if more than a few requests are running. */
  readonly loopLate: boolean
}
export interface Hysteresis extends Pressure {
  sample(sample: LoadSample): void
}

/** The number of running requests below which lag refuses no request. A client with a few calls is not an overload. */
export const lagExemptRequests = 8

/** The overload ends after `calmSamples` samples in a row below this part of the threshold. */
const calmAt = { lag: 0.4, heap: 0.95 }
const calmSamples = 3

export function createHysteresis({ lagMs = 250, heap = 0.9 }: Thresholds = {}): Hysteresis {
  const late = createAlarm(lagMs, lagMs * calmAt.lag)
  const high = createAlarm(heap, heap * calmAt.heap)
  return {
    sample(now) {
      late.sample(now.lagMs)
      high.sample(now.heap)
    },
    get heapHigh() {
      return high.on
    },
    get loopLate() {
      return late.on
    },
  }
}

/** Switches on at `from`, and off after `calmSamples` samples in a row below `calm`. */
function createAlarm(from: number, calm: number): { sample(value: number): void; readonly on: boolean } {
  let on = false
  let quiet = 0
  return {
    sample(value) {
      quiet = value < calm ? quiet + 1 : 0
      if (value >= from) on = true
      else if (quiet >= calmSamples) on = false
    },
    get on() {
      return on
    },
  }
}
