/**
 * Whether the process is in trouble, from samples of how late its event loop is and how full its heap. It takes little
 * to be in trouble and a while to be out of it: without that the gate would open and close with every sample.
 */

export interface LoadSample {
  /** How late a timer was. */
  readonly lagMs: number
  /** The part of the heap that is used, 0 to 1. */
  readonly heap: number
}

export interface Thresholds {
  /** Trouble from here on: 250 ms unless said. Everything under way waits that long for every turn. */
  readonly lagMs?: number
  /** Trouble from here on: 0.9 unless said. Past it the collector takes the time that calls need, and then all are lost. */
  readonly heap?: number
}

/** What the gate is told. */
export interface Pressure {
  /** New work is refused: memory is short. */
  readonly heapHigh: boolean
  /** New work is refused if more than a few requests are running: the loop does not keep up. */
  readonly loopLate: boolean
}
export interface Hysteresis extends Pressure {
  sample(signals: LoadSample): void
}

/** Requests that are never refused because the loop is late: one client with a few calls at once is not an overload. */
export const lagExemptRequests = 8

/** Below this part of its mark, for so many samples in a row, it is over. */
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

/** On from `from`, and off after some samples in a row below `calm`. */
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
