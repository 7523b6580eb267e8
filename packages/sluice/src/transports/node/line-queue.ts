/**
 * Lines that arrive together, taken a few per turn of the loop: the first answers leave, and the client may go on, while
 * the rest is still worked on. A thousand lines in one chunk do not hold up timers and signals either.
 */

export interface LineQueue {
  add(line: string): void
  /** Lines that wait for their turn. */
  readonly waiting: number
  /** Takes no line until `resume`. */
  pause(): void
  resume(): void
  /** Forgets the lines that wait. */
  clear(): void
}

/** Fewer cost more writes than they save waiting, more leave a client with a full window idle. */
const linesPerTurn = 32

/** `turn` is called before and after each group. */
export function createLineQueue(take: (line: string) => void, turn: () => void): LineQueue {
  let waiting: string[] = []
  let taken = 0
  let held = false
  let scheduled = false

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(next)
  }
  function next(): void {
    scheduled = false
    taken = 0
    if (waiting.length === 0) return
    turn()
    let at = 0
    for (const line of waiting) {
      if (held || at === linesPerTurn) break
      at++
      now(line)
    }
    waiting = waiting.slice(at)
    turn()
  }
  function now(line: string): void {
    taken++
    schedule()
    take(line)
  }
  return {
    add(line) {
      // No line overtakes another.
      if (held || waiting.length > 0 || taken >= linesPerTurn) waiting.push(line)
      else now(line)
    },
    get waiting() {
      return waiting.length
    },
    pause() {
      held = true
    },
    resume() {
      held = false
      if (waiting.length > 0) schedule()
    },
    clear() {
      waiting = []
    },
  }
}
