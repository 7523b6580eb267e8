/** Long work in slices, so that calls are served in between. */

import type { Clock } from './clock.ts'

/** How long work may hold the event loop: well below what load shedding takes for overload. */
const sliceMs = 8

/** Returns a function to await between steps: it waits for the next turn once the steps since the last have taken a slice. */
export function createPacer(clock: Clock): () => Promise<void> | undefined {
  let since = clock.now()
  return function pace() {
    const now = clock.now()
    // A clock set back would otherwise stop the pauses until it has caught up.
    if (now >= since && now - since < sliceMs) return undefined
    return new Promise((resolve) => {
      const goOn = (): void => {
        since = clock.now()
        resolve()
      }
      if (clock.turn) clock.turn(goOn)
      else clock.after(0, goOn)
    })
  }
}
