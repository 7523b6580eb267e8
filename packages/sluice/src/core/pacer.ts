/** Splits long work into slices, so that calls are served in between. */

import type { Clock } from './clock.ts'

/** Maximum time that work may hold the event loop. It is well below the threshold of load shedding. */
const sliceMs = 8

/**
 * Returns a function to await between steps. It waits for the next turn when the steps since the last wait took a whole
 * slice.
 */
export function createPacer(clock: Clock): () => Promise<void> | undefined {
  let since = clock.now()
  return function pace() {
    const now = clock.now()
    // Otherwise a clock that is set back would stop the pauses until it has caught up.
    if (now >= since && now - since < sliceMs) return undefined
    return new Promise((resolve) => {
      const resume = (): void => {
        since = clock.now()
        resolve()
      }
      if (clock.turn) clock.turn(resume)
      else clock.after(0, resume)
    })
  }
}
