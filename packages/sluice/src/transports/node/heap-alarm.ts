/**
 * Tells whether the heap is nearly full. It starts at once and ends only after a while. Otherwise admission control
 * would switch with every sample.
 */

export interface HeapAlarm {
  /** Takes the part of the heap that is used, 0 to 1. */
  sample(used: number): void
  readonly on: boolean
}

/** The alarm ends after `calmSamples` samples in a row below this part of the threshold. */
const calmPart = 0.95
const calmSamples = 3

export function createHeapAlarm(threshold = 0.9): HeapAlarm {
  let on = false
  let calm = 0
  return {
    sample(used) {
      calm = used < threshold * calmPart ? calm + 1 : 0
      if (used >= threshold) on = true
      else if (calm >= calmSamples) on = false
    },
    get on() {
      return on
    },
  }
}
