/** Work that must not be lost when the process exits, such as log lines that wait. One listener serves all of it. */

const waiting = new Set<() => void>()
let isListening = false

/** Calls `work` when the process exits, unless it is removed before. */
export function addExitWork(work: () => void): void {
  waiting.add(work)
  if (isListening) return
  isListening = true
  process.on('exit', () => {
    // A copy, because work that fails adds itself again.
    for (const each of [...waiting]) each()
  })
}

export const removeExitWork = (work: () => void): void => {
  waiting.delete(work)
}
