/**
 * Lines that arrive together, taken a few per turn of the loop: the first answers leave, and the client may go on, while
 * the rest is still worked on. A thousand lines in one chunk do not hold up timers and signals either.
 */

export interface LinePace {
  add(line: string): void
  /** What still waits is forgotten. */
  clear(): void
}

/** Fewer cost more writes than they save waiting, more leave a client with a full window idle. */
const perTurn = 32

/** `turn` is called between one group and the next. */
export function createLinePace(take: (line: string) => void, turn: () => void): LinePace {
  let waiting: string[] = []
  let taken = 0

  function next(): void {
    taken = 0
    if (waiting.length === 0) return
    turn()
    for (const line of waiting.splice(0, perTurn)) now(line)
  }
  function now(line: string): void {
    if (taken++ === 0) setImmediate(next)
    take(line)
  }
  return {
    add(line) {
      // While one waits, `taken` is full: no line ever overtakes another.
      if (taken >= perTurn) waiting.push(line)
      else now(line)
    },
    clear() {
      waiting = []
    },
  }
}
