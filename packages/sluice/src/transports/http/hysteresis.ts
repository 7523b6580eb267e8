/**
 * Whether the process is in trouble, from samples of how late its event loop is and how full its heap. It takes little
 * to be in trouble and a while to be out of it: without that the gate would open and close with every sample.
 */

export interface Signals {
  /** How late a timer was. */
  readonly lagMs: number
  /** The part of the heap that is used, 0 to 1. */
  readonly heap: number
}

export interface Marks {
  /** Trouble from here on: 250 ms unless said. Everything under way waits that long for every turn. */
  readonly lagMs?: number
  /** Trouble from here on: 0.9 unless said. Past it the collector takes the time that calls need, and then all are lost. */
  readonly heap?: number
}

/** What the gate is told. */
export interface Pressure {
  /** New work is better refused. */
  readonly high: boolean
}
export interface Hysteresis extends Pressure {
  sample(signals: Signals): void
}

/** Below this part of both marks, for so many samples in a row, it is over. */
const calmAt = { lag: 0.4, heap: 0.95 }
const calmSamples = 3

export function createHysteresis({ lagMs = 250, heap = 0.9 }: Marks = {}): Hysteresis {
  let high = false
  let calm = 0
  return {
    sample(now) {
      if (now.lagMs >= lagMs || now.heap >= heap) {
        high = true
        calm = 0
      } else if (now.lagMs < lagMs * calmAt.lag && now.heap < heap * calmAt.heap) {
        calm++
        if (calm >= calmSamples) high = false
      } else calm = 0
    },
    get high() {
      return high
    },
  }
}
