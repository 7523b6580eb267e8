/**
 * Handles lines that arrive together a few per turn of the event loop. The first answers are sent, and the client may
 * continue, while the rest is still handled. A thousand lines in one chunk do not delay timers and signals either.
 */

export interface LineQueue {
  add(line: string): void
  /** Lines that wait for their turn. */
  readonly waiting: number
  /** Handles no line until `resume`. */
  pause(): void
  resume(): void
  /** Discards the waiting lines. */
  clear(): void
}

/** Fewer lines cost more writes than they save waiting. More leave a client with a full window idle. */
const linesPerTurn = 32

/** Creates a queue that calls `handle` for each line, and `turn` before and after each group. */
export function createLineQueue(handle: (line: string) => void, turn: () => void): LineQueue {
  let waiting: string[] = []
  let handled = 0
  let paused = false
  let scheduled = false

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(next)
  }
  function next(): void {
    scheduled = false
    handled = 0
    if (waiting.length === 0) return
    turn()
    let count = 0
    for (const line of waiting) {
      if (paused || count === linesPerTurn) break
      count++
      handleNow(line)
    }
    waiting = waiting.slice(count)
    turn()
  }
  function handleNow(line: string): void {
    handled++
    schedule()
    handle(line)
  }
  return {
    add(line) {
      // No line overtakes another.
      if (paused || waiting.length > 0 || handled >= linesPerTurn) waiting.push(line)
      else handleNow(line)
    },
    get waiting() {
      return waiting.length
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      if (waiting.length > 0) schedule()
    },
    clear() {
      waiting = []
    },
  }
}
